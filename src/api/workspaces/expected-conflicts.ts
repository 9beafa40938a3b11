import type { ExpectedConflict } from '../../protocol/workspace.ts';
import type { PathDifference } from '../../workspaces/difference.ts';
import { planLanding } from '../../workspaces/landing/plan-landing.ts';
import { listDifferences } from '../../workspaces/list-differences.ts';
import { mergeStates } from '../../workspaces/merge/merge-states.ts';
import {
  isDamagedWorkspace,
  listWorkspaces,
  type WorkspaceRecord,
} from '../../workspaces/record.ts';
import type { WorkspaceAccess } from '../../workspaces/worktree-state.ts';

/** The maximum number of other workspaces that are compared, the newest first. */
const MAX_COMPARED = 16;

/**
 * Finds the files of a workspace that could not be merged now: with the files of its source, and with what other
 * ended tasks have left for the same source.
 */
export async function findExpectedConflicts(
  record: WorkspaceRecord,
  { dataDir, ...access }: WorkspaceAccess & { readonly dataDir: string },
): Promise<readonly ExpectedConflict[]> {
  const differences = await listDifferences(record, access);
  const plan = planLanding(differences, record.source);
  const withParent =
    plan.kind === 'conflicts'
      ? plan.conflicts.map(({ path }): ExpectedConflict => ({ path, with: 'parent' }))
      : [];
  const own = new Map(differences.map((each) => [each.path, each]));
  const withSiblings: ExpectedConflict[] = [];
  for (const sibling of listSiblings(record, dataDir)) {
    for (const other of await listDifferences(sibling, access)) {
      const mine = own.get(other.path);
      if (mine !== undefined && isInConflict(mine, other))
        withSiblings.push({ path: other.path, with: { task: sibling.id } });
    }
  }
  return [...withParent, ...withSiblings];
}

function listSiblings(
  { id, source }: WorkspaceRecord,
  dataDir: string,
): readonly WorkspaceRecord[] {
  return listWorkspaces(dataDir)
    .flatMap((each) => (isDamagedWorkspace(each) ? [] : [each]))
    .filter((each) => each.id !== id && each.source === source && each.status === 'ended')
    .toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1))
    .slice(0, MAX_COMPARED);
}

/** Tells whether the changes of two tasks to one path can't be merged. */
function isInConflict(mine: PathDifference, other: PathDifference): boolean {
  const versions = { base: mine.before, ours: other.after, theirs: mine.after };
  return mergeStates(versions, mine.unmergeable).kind === 'conflict';
}
