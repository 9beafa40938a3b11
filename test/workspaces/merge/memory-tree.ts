import type { PathState } from '../../../src/workspaces/difference.ts';
import type { PathDifference } from '../../../src/workspaces/difference.ts';
import type { EntryKind, UserTree } from '../../../src/workspaces/merge/user-tree.ts';

/** The paths of a tree and what stands there. A path with `special` is a FIFO; one that ends with `/` is an empty directory. */
export type Tree = Readonly<Record<string, PathState | 'special' | 'empty'>>;

/** Returns a file with this text. */
export function file(text: string, options: { readonly executable?: boolean } = {}): PathState {
  return { kind: 'file', executable: options.executable ?? false, bytes: Buffer.from(text) };
}

/** Returns a link to a target. */
export function link(target: string): PathState {
  return { kind: 'link', target };
}

/** Shows a state as a text. */
export function show(state: PathState): string {
  if (state === null) return '-';
  if (state.kind === 'link') return `-> ${state.target}`;
  return `${state.executable ? '*' : ''}${state.bytes.toString('latin1')}`;
}

/** A user's tree in memory. */
export function memoryTree(tree: Tree, options: { readonly ignoresCase?: boolean } = {}): UserTree {
  const paths = Object.keys(tree);
  const kindOf = (path: string): EntryKind => {
    const found = tree[path];
    if (found === 'special') return 'special';
    if (found === 'empty') return 'directory';
    if (found !== undefined && found !== null) return found.kind;
    return paths.some((each) => each.startsWith(`${path}/`)) ? 'directory' : 'nothing';
  };
  return {
    ignoresCase: options.ignoresCase ?? false,
    kindOf,
    read: (path) => {
      const found = tree[path];
      return found === undefined || found === 'special' || found === 'empty' ? null : found;
    },
    list: (directory) => {
      const prefix = directory === '' ? '' : `${directory}/`;
      const below = paths.filter((path) => path.startsWith(prefix));
      return [...new Set(below.map((path) => path.slice(prefix.length).split('/')[0] ?? ''))];
    },
  };
}

/** Applies changes to a tree in memory. */
export function applyChanges(tree: Tree, changes: readonly PathDifference[]): Tree {
  const after = new Map(Object.entries(tree));
  for (const { path, from, after: state } of changes) {
    if (from !== undefined) after.delete(from);
    if (state === null) after.delete(path);
  }
  for (const { path, after: state } of changes) if (state !== null) after.set(path, state);
  return Object.fromEntries(after);
}
