import { errorMessage } from '../../base/errors.ts';
import type { Environment } from '../../sys/env.ts';
import { hasUnfinishedLanding } from '../../workspaces/landing-state.ts';
import {
  isDamagedWorkspace,
  listWorkspaces,
  workspaceDirectory,
  type WorkspaceRecord,
} from '../../workspaces/record.ts';
import { finishRemoval, findAbandonedWorkspaces } from '../../workspaces/remove.ts';
import { deleteDirectory } from '../../workspaces/worktree-files.ts';
import { removeRecovered } from './remove-landed.ts';

/** The surroundings of the workspaces that are cleaned up. */
export interface PruneParts {
  /** Absolute. */
  readonly dataDir: string;
  readonly environment: Environment;
  readonly signal: AbortSignal;
  /** Tells whether a process works on the task with this id. */
  readonly isActive: (id: string) => boolean;
  /** Called with a line for each workspace that could not be cleaned up. */
  readonly onNotice: (line: string) => void;
}

/**
 * Finishes what killed processes have begun: creations, removals, and the removals that follow a landing. Deletes what is
 * kept of removed workspaces whose tasks ended before a time (ms since the epoch). Workspaces with changes, and those
 * with a landing that is not finished, stay. Returns the ids of their tasks.
 */
export async function pruneWorkspaces(
  parts: PruneParts,
  endedBefore: number,
): Promise<{ readonly kept: readonly string[] }> {
  const { dataDir, environment, signal, isActive, onNotice } = parts;
  const attempt = async (id: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (thrown) {
      signal.throwIfAborted();
      onNotice(`the workspace of task ${id} was not cleaned up: ${errorMessage(thrown)}`);
    }
  };
  for (const { workspace, state } of findAbandonedWorkspaces(dataDir, isActive)) {
    if (isDamagedWorkspace(workspace) || state === 'open') continue;
    if (hasUnfinishedLanding(workspaceDirectory(dataDir, workspace.id))) continue;
    await attempt(workspace.id, () => finishRemoval(workspace, { environment, signal }));
  }
  const kept: string[] = [];
  for (const record of listWorkspaces(dataDir)) {
    if (isDamagedWorkspace(record) || isActive(record.id)) continue;
    const { id } = record;
    await attempt(id, async () => {
      if (record.status !== 'removed')
        return await removeRecovered(record, { dataDir, environment });
      const directory = workspaceDirectory(dataDir, id);
      if (hasUnfinishedLanding(directory) || !hasExpired(record, endedBefore)) return;
      await deleteDirectory(directory);
    });
  }
  for (const record of listWorkspaces(dataDir)) {
    if (isDamagedWorkspace(record)) continue;
    const isOpen = record.status === 'ready' || record.status === 'ended';
    if (isOpen || hasUnfinishedLanding(workspaceDirectory(dataDir, record.id)))
      kept.push(record.id);
  }
  return { kept };
}

/** Tells whether the task of a removed workspace ended before a time (ms since the epoch). */
function hasExpired({ result, createdAt }: WorkspaceRecord, endedBefore: number): boolean {
  return Date.parse(result?.endedAt ?? createdAt) < endedBefore;
}
