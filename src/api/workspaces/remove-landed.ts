import { dirname } from 'node:path';
import { errorMessage } from '../../base/errors.ts';
import type { Environment } from '../../sys/env.ts';
import { planLanding } from '../../workspaces/landing/plan-landing.ts';
import { readLandingState } from '../../workspaces/landing-state.ts';
import { listDifferences } from '../../workspaces/list-differences.ts';
import {
  isDamagedWorkspace,
  readWorkspaceRecord,
  type WorkspaceRecord,
} from '../../workspaces/record.ts';
import { removeWorkspace } from '../../workspaces/remove.ts';

/** The surroundings of a removal. */
interface RemovalParts {
  readonly dataDir: string;
  readonly environment: Environment;
}

/**
 * Removes a workspace whose recorded result has landed. The landing can still be undone. Returns the reason why the
 * workspace stays: there is something else in it, or it could not be deleted. Null if it is gone.
 */
export async function removeLanded(
  record: WorkspaceRecord,
  { environment }: Pick<RemovalParts, 'environment'>,
): Promise<string | null> {
  const now = readWorkspaceRecord(dirname(record.tree));
  const isStale =
    !isDamagedWorkspace(now) &&
    (now.status === 'ready' || now.result?.commit !== record.result?.commit);
  if (isStale) return 'the task has continued to work in it';
  try {
    // The landing is complete, so an abort no longer matters.
    const { signal } = new AbortController();
    await removeWorkspace(record, { discard: 'landed', environment, signal });
    return null;
  } catch (thrown) {
    return errorMessage(thrown);
  }
}

/**
 * Removes a workspace whose process died between the landing and the removal. It stays if its source does not have all of
 * its changes: a recovered landing leaves files that somebody else has changed.
 */
export async function removeRecovered(
  record: WorkspaceRecord,
  { dataDir, environment }: RemovalParts,
): Promise<void> {
  if (record.status !== 'ended' || readLandingState(dataDir, record.id) !== 'landed') return;
  const { signal } = new AbortController();
  const plan = planLanding(await listDifferences(record, { environment, signal }), record.source);
  if (plan.kind === 'ready' && plan.changes.length === 0)
    await removeLanded(record, { environment });
}
