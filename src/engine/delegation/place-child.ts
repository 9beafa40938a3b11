import { dropMissing } from '../../base/drop-missing.ts';
import { moveRights } from '../../policy/workspace-rights.ts';
import type { Rights } from '../../protocol/permission.ts';
import { mapPaths, toWorkspacePath } from '../../protocol/workspace-paths.ts';
import type { TaskWorkspace } from '../../protocol/workspace.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { ChildPlan } from './plan-child.ts';

/** A child that is about to be created. */
interface ChildToPlace {
  readonly id: string;
  /** The working directory of the parent. */
  readonly cwd: string;
  readonly description: string;
  readonly prompt: string;
}

/** A planned child with its place: the parent's directory, or a workspace of its own. */
export interface PlacedChild {
  /** The plan, with the rights that the child has in its place. */
  readonly plan: ChildPlan;
  readonly cwd: string;
  readonly prompt: string;
  readonly workspace?: TaskWorkspace;
}

/**
 * Decides where a planned child works. The rights of a child in a workspace hold there instead of in the parent's
 * directory, and paths of that directory in its prompt are replaced by those in the workspace.
 */
export function placeChild(
  { workspaces }: Pick<EngineDeps, 'workspaces'>,
  { id, cwd, description, prompt }: ChildToPlace,
  plan: ChildPlan,
): PlacedChild {
  if (plan.isolation !== 'worktree' || workspaces === undefined) return { plan, cwd, prompt };
  const planned = workspaces.plan({ id, cwd, description });
  const mapped = mapPaths(prompt, planned);
  const workspace = mapped === prompt ? planned : { ...planned, mapsPaths: true as const };
  return {
    plan: { ...plan, rights: rightsInWorkspace(plan.rights, planned) },
    cwd: toWorkspacePath(cwd, planned),
    prompt: mapped,
    workspace,
  };
}

/** The place of a conversation in a workspace of its own. */
interface PlacedRoot {
  readonly cwd: string;
  readonly rights: Rights;
  readonly workspace: TaskWorkspace;
}

/**
 * Decides where a conversation works that gets a workspace. The rights that it would have in `cwd` hold there. Returns
 * undefined if it works in `cwd`.
 *
 * @param root `worktree`: set if the conversation gets a workspace. Its name, or else the description, names the branch.
 */
export function placeRoot(
  { workspaces }: Pick<EngineDeps, 'workspaces'>,
  root: {
    readonly id: string;
    readonly cwd: string;
    readonly description: string;
    readonly worktree: { readonly name: string | null } | undefined;
  },
  rights: Rights,
): PlacedRoot | undefined {
  const { id, cwd, description, worktree } = root;
  if (worktree === undefined) return undefined;
  if (workspaces === undefined) throw new Error('there is nothing that could create a workspace');
  const workspace = workspaces.plan({ id, cwd, description: worktree.name ?? description });
  return {
    cwd: toWorkspacePath(cwd, workspace),
    rights: rightsInWorkspace(rights, workspace),
    workspace,
  };
}

function rightsInWorkspace(rights: Rights, workspace: TaskWorkspace): Rights {
  const { source, tree, branch, commonDirectory } = workspace;
  return moveRights(rights, { source, tree, ...dropMissing({ branch, commonDirectory }) });
}
