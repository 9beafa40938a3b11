import { isInside } from '../base/path-inside.ts';
import type { Confinement } from '../sys/sandbox/sandbox.ts';
import type { Rights } from '../protocol/permission.ts';
import {
  moveRoots,
  type WorkspaceInUse,
  type WorkspaceTrees,
} from '../protocol/workspace-paths.ts';

/**
 * Returns the rights that a task has in a workspace: those in the directory for which the workspace stands, in the same
 * places of the workspace. A root that does not lie in that directory is lost. If that directory is itself a part of a
 * workspace, the rules about paths in its source hold in the new one, too.
 */
export function moveRights(rights: Rights, workspace: WorkspaceInUse): Rights {
  const { outer = findOuter(rights, workspace) } = workspace;
  const moved =
    outer === undefined || outer.tree === rights.workspace?.tree
      ? rights
      : moveRights(rights, outer);
  const inOuter = outer === undefined ? {} : { outer };
  return {
    ...moved,
    roots: moveRoots(moved.roots, workspace),
    workspace: { ...workspace, ...inOuter },
  };
}

/** Returns the workspace of the rights if the source of a new one is a part of it. */
function findOuter(
  { workspace: own }: Rights,
  { source }: WorkspaceTrees,
): WorkspaceTrees | undefined {
  if (own === undefined || !isInside(own.tree, source)) return undefined;
  const { source: ownSource, tree, outer } = own;
  return { source: ownSource, tree, ...(outer === undefined ? {} : { outer }) };
}

/** Returns the part of a confinement that limits what programs in a workspace may change in its repository. */
export function confineWorktree(
  workspace: WorkspaceInUse | undefined,
): Pick<Confinement, 'worktree'> {
  const { commonDirectory, branch } = workspace ?? {};
  return commonDirectory === undefined || branch === undefined
    ? {}
    : { worktree: { commonDirectory, branch } };
}
