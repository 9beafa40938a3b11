import { dropMissing } from '../../base/drop-missing.ts';
import { isInside } from '../../base/path-inside.ts';
import { moveRights, toWorkspacePath, type WorkspaceTrees } from '../../policy/workspace-rights.ts';
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
  const { source, tree, branch, commonDirectory } = planned;
  const place = { source, tree, ...dropMissing({ branch, commonDirectory }) };
  const rights = moveRights(plan.rights, place);
  return {
    plan: { ...plan, rights },
    cwd: toWorkspacePath(cwd, planned),
    prompt: mapped,
    workspace,
  };
}

/** Replaces the path of a directory in a text by that of its workspace, also where it begins a longer path. */
export function mapPaths(text: string, { source, tree }: WorkspaceTrees): string {
  if (source === '/' || !text.includes(source)) return text;
  const escaped = source.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  // The path must not be a part of another path: `/src/app` is not in `/home/src/app` and `/src/app2`.
  const pattern = new RegExp(`(?<![\\w./~-])${escaped}(?=/|[^\\w.-]|\\.(?:\\s|$)|$)`, 'g');
  return text.replace(pattern, (match, offset: number) =>
    isInside(source, tree) && text.startsWith(tree, offset) ? match : tree,
  );
}
