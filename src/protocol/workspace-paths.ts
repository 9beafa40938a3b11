import { join, relative } from 'node:path/posix';
import { isInside } from '../base/path-inside.ts';
import type { TaskWorkspace } from './workspace.ts';

/** A directory and the tree that stands for it. Both are absolute, without links. */
export interface WorkspaceTrees extends Pick<TaskWorkspace, 'source' | 'tree'> {
  /** The workspace that the source is a part of. Default: the source is in no workspace. */
  readonly outer?: WorkspaceTrees;
}

/**
 * Returns the path in the workspace that stands for a path in its source, or in the source of an outer workspace. Other
 * paths are returned unchanged.
 */
export function toWorkspacePath(path: string, { source, tree, outer }: WorkspaceTrees): string {
  const inSource = outer === undefined ? path : toWorkspacePath(path, outer);
  return isInside(source, inSource) ? join(tree, relative(source, inSource)) : path;
}

/** Lists the paths that stand for a path in a workspace and in all outer ones, without the path itself. */
export function listWorkspacePaths(path: string, workspace: WorkspaceTrees): readonly string[] {
  const { outer } = workspace;
  const here = toWorkspacePath(path, workspace);
  const inOuter = outer === undefined ? [] : listWorkspacePaths(path, outer);
  return here === path ? inOuter : inOuter.concat(here);
}

/** Returns the path for which a path in a workspace stands; undefined for other paths. */
export function toSourcePath(path: string, { source, tree }: WorkspaceTrees): string | undefined {
  return isInside(tree, path) ? join(source, relative(tree, path)) : undefined;
}

/** Lists the paths for which a path in a workspace stands: that in its source, and those in the sources of outer ones. */
export function listSourcePaths(path: string, workspace: WorkspaceTrees): readonly string[] {
  const source = toSourcePath(path, workspace);
  if (source === undefined) return [];
  const { outer } = workspace;
  return outer === undefined ? [source] : [source, ...listSourcePaths(source, outer)];
}
