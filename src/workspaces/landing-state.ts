import { existsSync } from 'node:fs';
import { MusterError } from '../base/errors.ts';
import type { LandingState } from '../protocol/workspace.ts';
import {
  listLandingNumbers,
  numberedDirectory,
  readJournal,
  unfinishedDirectory,
  type LandingJournal,
} from './landing/journal.ts';
import {
  isDamagedWorkspace,
  listWorkspaces,
  readWorkspaceRecord,
  workspaceDirectory,
  type WorkspaceRecord,
} from './record.ts';

/** A workspace, and what has become of its changes. */
export interface WorkspaceSummary extends Pick<
  WorkspaceRecord,
  'id' | 'kind' | 'source' | 'status'
> {
  /** The branch of a worktree; null for a copy, and for a worktree that is being created. */
  readonly branch: string | null;
  readonly landing: LandingState;
}

/** Lists the workspaces in a data directory that can be read. Reads only their records and newest landings. */
export function listWorkspaceSummaries(dataDir: string): readonly WorkspaceSummary[] {
  return listWorkspaces(dataDir).flatMap((record) => {
    if (isDamagedWorkspace(record)) return [];
    const { id, kind, source, status, git } = record;
    const landing = findLandingState(record, workspaceDirectory(dataDir, id));
    return [{ id, kind, source, status, branch: git?.branch ?? null, landing }];
  });
}

/** Reads what has become of the changes of a task. */
export function readLandingState(dataDir: string, id: string): LandingState {
  const directory = workspaceDirectory(dataDir, id);
  if (hasUnfinishedLanding(directory)) return 'unfinished';
  const record = readWorkspaceRecord(directory);
  return isDamagedWorkspace(record) ? 'gone' : findLandingState(record, directory);
}

/** Tells whether a landing of a workspace has begun and has not ended. Its journal must not be deleted. */
export function hasUnfinishedLanding(directory: string): boolean {
  return existsSync(unfinishedDirectory(directory));
}

function findLandingState(record: WorkspaceRecord, directory: string): LandingState {
  const { status, result, isDiscarded } = record;
  if (hasUnfinishedLanding(directory)) return 'unfinished';
  const last = findNewestLanding(directory)?.journal;
  if (status === 'removed') {
    if (isDiscarded === true) return 'discarded';
    if (last === undefined) return 'gone';
    return last.kind === 'apply' ? 'landed' : 'undone';
  }
  // The process has died after the landing and before the removal of the workspace.
  const hasLanded =
    last?.kind === 'apply' && result !== undefined && last.startedAt >= result.endedAt;
  return hasLanded ? 'landed' : 'open';
}

/** Finds the newest finished landing of a workspace, or the newest one of a kind. A damaged journal counts as none. */
export function findNewestLanding(
  directory: string,
  kind?: LandingJournal['kind'],
): { readonly directory: string; readonly journal: LandingJournal } | null {
  for (const number of listLandingNumbers(directory).toReversed()) {
    const numbered = numberedDirectory(directory, number);
    const journal = readJournalIfWhole(numbered);
    if (journal !== null && (kind === undefined || journal.kind === kind))
      return { directory: numbered, journal };
  }
  return null;
}

function readJournalIfWhole(directory: string): LandingJournal | null {
  try {
    return readJournal(directory);
  } catch (thrown) {
    // A damaged journal says nothing about the landing.
    if (thrown instanceof MusterError) return null;
    throw thrown;
  }
}
