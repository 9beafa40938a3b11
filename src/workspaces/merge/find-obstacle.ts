import { foldFileName } from '../../sys/files/folded-name.ts';
import type { PathDifference } from '../difference.ts';
import type { ConflictReason } from './conflict.ts';
import type { UserTree } from './user-tree.ts';

/** The reason why a change can't be written, although its content can be merged. */
export interface Obstacle {
  readonly kind: 'conflict';
  readonly reason: ConflictReason;
  readonly message: string;
}

/** Matches the short name that Windows file systems give to `.git`. */
const SHORT_GIT_NAME = /^git~\d+$/;

/** Tells whether a landing may write a path: it must lie inside the tree and belong to no git directory. */
export function isLandingPath(path: string): boolean {
  return path.split('/').every((part) => {
    if (part === '' || part === '.' || part === '..' || part.includes('\0')) return false;
    const folded = foldFileName(part);
    return folded !== '.git' && !SHORT_GIT_NAME.test(folded);
  });
}

/** Returns the directories above a path, the highest first, without the top of the tree. */
export function listParents(path: string): readonly string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** Lists the paths at which nothing is left after changes, although the user's tree has something there. */
export function listRemoved(changes: readonly PathDifference[]): ReadonlySet<string> {
  const removed = changes.flatMap(({ path, from, after }) =>
    after === null ? [path] : from === undefined ? [] : [from],
  );
  const written = listWritten(changes);
  return new Set(removed.filter((path) => !written.has(path)));
}

/** Lists the paths at which something is after changes. */
export function listWritten(changes: readonly PathDifference[]): ReadonlySet<string> {
  return new Set(changes.filter(({ after }) => after !== null).map(({ path }) => path));
}

/**
 * Returns a function that finds what is in the way of one of the changes; null if nothing is. Files and directories that
 * the changes themselves remove are not in the way.
 */
export function createObstacleSearch(
  changes: readonly PathDifference[],
  tree: UserTree,
): (change: PathDifference) => Obstacle | null {
  const removed = listRemoved(changes);
  const written = listWritten(changes);
  const names = tree.ignoresCase ? countFoldedNames(written) : null;
  return ({ path, after }) => {
    if (after === null) return null;
    for (const directory of listParents(path)) {
      const kind = written.has(directory) ? 'file' : tree.kindOf(directory);
      const isInTheWay = kind !== 'nothing' && kind !== 'directory' && !removed.has(directory);
      if (isInTheWay) return occupied(`can't be written, because ${directory} is not a directory`);
    }
    const kind = tree.kindOf(path);
    if (kind === 'special') return occupied('is not a regular file in your tree');
    const left = kind === 'directory' ? findLeftIn(path, removed, tree) : null;
    if (left !== null) return occupied(`is a directory in your tree, in which ${left} is left`);
    return names === null ? null : findSimilarName(path, names, tree);
  };
}

function occupied(message: string): Obstacle {
  return { kind: 'conflict', reason: 'occupied', message };
}

/** Returns a path in a directory that is left after the changes, or null. An empty directory is left. */
function findLeftIn(
  directory: string,
  removed: ReadonlySet<string>,
  tree: UserTree,
): string | null {
  const names = tree.list(directory);
  if (names.length === 0) return directory;
  for (const name of names) {
    const path = `${directory}/${name}`;
    const left =
      tree.kindOf(path) === 'directory'
        ? findLeftIn(path, removed, tree)
        : removed.has(path)
          ? null
          : path;
    if (left !== null) return left;
  }
  return null;
}

/** Counts the written paths, and the directories above them, that are the same without differences in letter case. */
function countFoldedNames(written: ReadonlySet<string>): ReadonlyMap<string, Set<string>> {
  const names = new Map<string, Set<string>>();
  for (const path of written) {
    for (const each of [...listParents(path), path]) {
      const folded = foldPath(each);
      names.set(folded, (names.get(folded) ?? new Set()).add(each));
    }
  }
  return names;
}

function findSimilarName(
  path: string,
  names: ReadonlyMap<string, ReadonlySet<string>>,
  tree: UserTree,
): Obstacle | null {
  let directory = '';
  for (const part of path.split('/')) {
    const here = directory === '' ? part : `${directory}/${part}`;
    const present = tree
      .list(directory)
      .map((name) => (directory === '' ? name : `${directory}/${name}`));
    const alike = [...(names.get(foldPath(here)) ?? []), ...present];
    const similar = alike.find((other) => other !== here && foldPath(other) === foldPath(here));
    if (similar !== undefined) {
      const message = `differs only in letter case from ${similar}, and the file system does not distinguish them`;
      return { kind: 'conflict', reason: 'letter_case', message };
    }
    directory = here;
  }
  return null;
}

function foldPath(path: string): string {
  return path.split('/').map(foldFileName).join('/');
}
