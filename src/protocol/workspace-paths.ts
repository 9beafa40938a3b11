import { join, relative } from 'node:path/posix';
import { isInside } from '../base/path-inside.ts';
import type { TaskWorkspace } from './workspace.ts';

/** A directory and the tree that stands for it. Both are absolute, without links. */
export interface WorkspaceTrees extends Pick<TaskWorkspace, 'source' | 'tree'> {
  /** The workspace that the source is a part of. Default: the source is in no workspace. */
  readonly outer?: WorkspaceTrees;
}

/** The workspace in which a task works, with the parts of its repository that the task may change. */
export interface WorkspaceInUse
  extends WorkspaceTrees, Pick<TaskWorkspace, 'commonDirectory' | 'branch'> {}

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

/** Lists the directories for which a workspace and all outer ones stand. */
export function listSources({ source, outer }: WorkspaceTrees): readonly string[] {
  return outer === undefined ? [source] : [source, ...listSources(outer)];
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

/**
 * Returns the directories of a workspace that stand for roots. A root that contains the source becomes the whole tree. One
 * that lies elsewhere is lost. Outer workspaces do not count.
 */
export function moveRoots(
  roots: readonly string[],
  { source, tree }: Pick<WorkspaceTrees, 'source' | 'tree'>,
): readonly string[] {
  const moved = roots.flatMap((root) => {
    if (isInside(source, root)) return [toWorkspacePath(root, { source, tree })];
    return isInside(root, source) ? [tree] : [];
  });
  return [...new Set(moved)];
}

/**
 * Replaces the path of the source in a text by that of its workspace, also where it begins a longer path. The sources of
 * outer workspaces are replaced as well.
 */
export function mapPaths(text: string, { source, tree, outer }: WorkspaceTrees): string {
  const inSource = outer === undefined ? text : mapPaths(text, outer);
  if (source === '/' || !inSource.includes(source)) return inSource;
  const escaped = source.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  // The path must not be a part of another path: `/src/app` is not in `/home/src/app` and `/src/app2`.
  const pattern = new RegExp(`(?<![\\w./~-])${escaped}(?=/|[^\\w.-]|\\.(?:\\s|$)|$)`, 'g');
  return inSource.replace(pattern, (match, offset: number) =>
    isInside(source, tree) && inSource.startsWith(tree, offset) ? match : tree,
  );
}
