import { constants, copyFileSync, lstatSync, readdirSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { systemErrorCode } from '../base/errors.ts';
import { toBytes, toPath, type GitPlace, type WorkspaceGit } from './git.ts';

/** The files of a working tree as git stores them. */
export interface CapturedTree {
  /** The id of the tree object. */
  readonly tree: string;
  /** Directories inside the working tree, such as repositories, that git cannot store. Paths relative to it. */
  readonly nested: readonly string[];
}

/** Which changes of a working tree are captured. */
export interface CaptureOptions {
  /** Paths that never are part of the changes, with everything below them. */
  readonly leaveOut?: readonly string[];
  /** Paths (latin1) that are captured also if git ignores them, if they are files or links. */
  readonly alsoIgnored?: readonly string[];
  /** The tree of the index, so that it is not written again if nothing has changed. Default: not known. */
  readonly indexTree?: string | null;
  /** Called with the changed paths (latin1). Returns those to capture, or throws. Default: all. */
  readonly select?: (changed: readonly string[]) => Promise<readonly string[]>;
}

/** Makes git look also at files that a sparse checkout leaves out but that exist. */
const SPARSE = ['-c', 'core.sparseCheckout=true'];

/**
 * Copies the index of a git directory to a file. If there is none, the file does not exist afterwards. The copy gets the
 * time of the original, rounded down: git reads the content of a file only if its stats have changed, or if it may have
 * been changed in the second in which the index was written.
 */
export function copyIndex(from: string, to: string): void {
  try {
    const { mtimeMs } = statSync(from);
    copyFileSync(from, to, constants.COPYFILE_FICLONE);
    const seconds = Math.floor(mtimeMs / 1000);
    utimesSync(to, seconds, seconds);
  } catch (thrown) {
    if (systemErrorCode(thrown) !== 'ENOENT') throw thrown;
  }
}

/**
 * Stores the files of a working tree as a tree of git: those in the index `place.index`, as they are now, and new files
 * that git does not ignore. The index must be one that nobody else uses, with the stats of the files at an earlier
 * moment, and has the captured files afterwards.
 */
export async function captureTree(
  git: WorkspaceGit,
  place: GitPlace,
  {
    leaveOut = [],
    alsoIgnored = [],
    indexTree = null,
    select = (changed) => Promise.resolve(changed),
  }: CaptureOptions = {},
): Promise<CapturedTree> {
  const listed = await git.list(place, [
    ...SPARSE,
    'ls-files',
    '-z',
    '--modified',
    '--others',
    '--exclude-standard',
  ]);
  const left = leaveOut.map(toBytes);
  const present = alsoIgnored.filter((path) => isFileOrLink(place.workTree, path));
  const changed = [...new Set([...listed, ...present])].filter(
    (path) => !left.some((each) => path === each || path.startsWith(`${each}/`)),
  );
  // A repository without a commit, or one that is not in the index, is listed as a directory.
  const files = changed.filter((path) => !path.endsWith('/'));
  const selected = await select(files);
  await updateIndexEntries(git, place, selected);
  const nested = changed.filter((path) => path.endsWith('/'));
  return {
    tree:
      selected.length === 0 && indexTree !== null
        ? indexTree
        : await git.line(place, ['write-tree']),
    nested: nested.map((path) => toPath(path.slice(0, -1)) ?? path),
  };
}

/** Brings the entries of these paths (latin1) in an index to the files of the working tree as they are now. */
export async function updateIndexEntries(
  git: WorkspaceGit,
  place: GitPlace,
  paths: readonly string[],
): Promise<void> {
  const update = async (some: readonly string[], ...options: readonly string[]): Promise<void> => {
    if (some.length === 0) return;
    const input = some.map((path) => `${path}\0`).join('');
    await git.run(place, [...SPARSE, 'update-index', ...options, '-z', '--stdin'], { input });
  };
  const isGone = createGoneTest(place.workTree);
  const present = paths.filter((path) => !isGone(path));
  await update(paths.filter(isGone), '--force-remove');
  await update(present, '--add', '--remove', '--replace');
}

/**
 * Returns a function that tells whether a tracked file is gone because a directory stands in its place, or a file or
 * link in place of one of its directories. Git takes such a path (latin1) for an error and not for a file that is gone.
 */
function createGoneTest(top: string): (path: string) => boolean {
  const known = new Map<string, boolean>();
  const stat = (path: string) =>
    lstatSync(Buffer.concat([Buffer.from(`${top}/`), Buffer.from(path, 'latin1')]), {
      throwIfNoEntry: false,
    });
  const isBelowFile = (path: string): boolean => {
    const end = path.lastIndexOf('/');
    if (end < 0) return false;
    const parent = path.slice(0, end);
    const found = known.get(parent);
    if (found !== undefined) return found;
    const isReplaced = isBelowFile(parent) || stat(parent)?.isDirectory() === false;
    known.set(parent, isReplaced);
    return isReplaced;
  };
  // The directory of a submodule that the task uses has an entry `.git`.
  const isPlainDirectory = (path: string): boolean =>
    stat(path)?.isDirectory() === true && stat(`${path}/.git`) === undefined;
  return (path) => isBelowFile(path) || isPlainDirectory(path);
}

/** Tells whether a path (latin1) of the working tree is a file or a link. */
function isFileOrLink(top: string, path: string): boolean {
  const full = Buffer.concat([Buffer.from(`${top}/`), Buffer.from(path, 'latin1')]);
  try {
    const stats = lstatSync(full);
    return stats.isFile() || stats.isSymbolicLink();
  } catch (thrown) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(systemErrorCode(thrown) ?? '')) return false;
    throw thrown;
  }
}

/** Tells whether a directory of the working tree, such as that of a submodule, holds anything. */
export function holdsEntries(tree: string, path: string): boolean {
  const full = join(tree, path);
  return lstatSync(full, { throwIfNoEntry: false })?.isDirectory() === true
    ? readdirSync(full).length > 0
    : false;
}
