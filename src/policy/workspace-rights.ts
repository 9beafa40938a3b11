import { join, relative } from 'node:path/posix';
import { isInside } from '../base/path-inside.ts';
import type { Rights } from '../protocol/permission.ts';

/** A directory and the tree that stands for it. Both are absolute, without links. */
export type WorkspaceTrees = Pick<NonNullable<Rights['workspace']>, 'source' | 'tree'>;

/**
 * Returns the rights that a task has in a workspace: those in the directory for which the workspace stands, in the same
 * places of the workspace. A root that does not lie in that directory is lost.
 */
export function moveRights(rights: Rights, workspace: NonNullable<Rights['workspace']>): Rights {
  const roots = rights.roots.flatMap((root) => {
    if (isInside(workspace.source, root)) return [toWorkspacePath(root, workspace)];
    return isInside(root, workspace.source) ? [workspace.tree] : [];
  });
  return { ...rights, roots: [...new Set(roots)], workspace };
}

/** Returns the path in the workspace that stands for a path in its source. Other paths are returned unchanged. */
export function toWorkspacePath(path: string, { source, tree }: WorkspaceTrees): string {
  return isInside(source, path) ? join(tree, relative(source, path)) : path;
}

/** Returns the path for which a path in a workspace stands; undefined for other paths. */
export function toSourcePath(path: string, { source, tree }: WorkspaceTrees): string | undefined {
  return isInside(tree, path) ? join(source, relative(tree, path)) : undefined;
}
