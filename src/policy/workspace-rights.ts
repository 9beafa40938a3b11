import { isInside } from '../base/path-inside.ts';
import type { Rights } from '../protocol/permission.ts';
import { toWorkspacePath } from '../protocol/workspace-paths.ts';

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
