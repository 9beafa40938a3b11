import { join, relative } from 'node:path/posix';
import { isInside } from '../base/path-inside.ts';
import type { TaskWorkspace } from './workspace.ts';

/** A directory and the tree that stands for it. Both are absolute, without links. */
export type WorkspaceTrees = Pick<TaskWorkspace, 'source' | 'tree'>;

/** Returns the path in the workspace that stands for a path in its source. Other paths are returned unchanged. */
export function toWorkspacePath(path: string, { source, tree }: WorkspaceTrees): string {
  return isInside(source, path) ? join(tree, relative(source, path)) : path;
}

/** Returns the path for which a path in a workspace stands; undefined for other paths. */
export function toSourcePath(path: string, { source, tree }: WorkspaceTrees): string | undefined {
  return isInside(tree, path) ? join(source, relative(tree, path)) : undefined;
}
