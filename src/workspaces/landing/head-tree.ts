import type { PathState } from '../difference.ts';
import { toPath, type GitPlace, type WorkspaceGit } from '../git.ts';
import type { EntryKind, UserTree } from '../merge/user-tree.ts';
import { LINK_MODE, SUBMODULE_MODE } from '../tree-changes.ts';
import type { LandedIndexEntry } from './git-change.ts';

/** The files of a commit, with which changes can be merged. */
export interface HeadTree extends UserTree {
  /** The entries of all files, by path. */
  readonly entries: ReadonlyMap<string, LandedIndexEntry>;
}

/**
 * Opens a commit as a tree for a merge. Only the contents of `paths` can be read. Null stands for an empty tree.
 */
export async function openHeadTree(
  git: WorkspaceGit,
  place: GitPlace,
  commit: string | null,
  paths: readonly string[],
): Promise<HeadTree> {
  const entries = new Map<string, LandedIndexEntry>();
  const directories = new Map<string, Set<string>>([['', new Set()]]);
  const listed = commit === null ? [] : await git.list(place, ['ls-tree', '-r', '-z', commit]);
  for (const line of listed) {
    const end = line.indexOf('\t');
    const [mode = '', , object = ''] = line.slice(0, end).split(' ');
    const path = toPath(line.slice(end + 1));
    if (path === null) continue;
    entries.set(path, { mode, object });
    addToDirectories(directories, path);
  }
  const contents = await readContents(git, place, entries, paths);
  const kindOf = (path: string): EntryKind => {
    const mode = entries.get(path)?.mode;
    if (mode === undefined) return directories.has(path) ? 'directory' : 'nothing';
    if (mode === SUBMODULE_MODE) return 'special';
    return mode === LINK_MODE ? 'link' : 'file';
  };
  return {
    entries,
    ignoresCase: git.ignoresCase,
    kindOf,
    read: (path) => contents.get(path) ?? null,
    list: (directory) => [...(directories.get(directory) ?? [])],
  };
}

function addToDirectories(directories: Map<string, Set<string>>, path: string): void {
  for (let at = path; at !== '';) {
    const end = at.lastIndexOf('/');
    const parent = end < 0 ? '' : at.slice(0, end);
    const names = directories.get(parent);
    directories.set(parent, (names ?? new Set()).add(at.slice(end + 1)));
    // The directories above are known if this one is.
    at = names === undefined ? parent : '';
  }
}

async function readContents(
  git: WorkspaceGit,
  place: GitPlace,
  entries: ReadonlyMap<string, LandedIndexEntry>,
  paths: readonly string[],
): Promise<ReadonlyMap<string, PathState>> {
  const states = new Map<string, PathState>();
  const wanted = [...new Set(paths)].flatMap((path) => {
    const entry = entries.get(path);
    return entry === undefined || entry.mode === SUBMODULE_MODE ? [] : [{ path, ...entry }];
  });
  const links = wanted.filter(({ mode }) => mode === LINK_MODE);
  const files = wanted.filter(({ mode }) => mode !== LINK_MODE);
  for (const [index, bytes] of (await git.readFiles(place, links, 'stored')).entries()) {
    states.set(links[index]?.path ?? '', { kind: 'link', target: bytes.toString('utf8') });
  }
  for (const [index, bytes] of (await git.readFiles(place, files, 'working')).entries()) {
    const { path = '', mode = '' } = files[index] ?? {};
    states.set(path, { kind: 'file', executable: mode === '100755', bytes });
  }
  return states;
}
