import { existsSync } from 'node:fs';
import { MusterError } from '../base/errors.ts';
import type { LandingState } from '../protocol/workspace.ts';
import type { PathDifference } from './difference.ts';
import {
  listLandedChanges,
  listLandingNumbers,
  numberedDirectory,
  openJournalContents,
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
    // An undo may have taken back a landing whose journal is damaged now.
    const isUndone = last.kind === 'undo' || findUndoneLanding(directory) !== null;
    return isUndone ? 'undone' : 'landed';
  }
  // The process has died after the landing and before the removal of the workspace.
  const hasLanded =
    last?.kind === 'apply' && result !== undefined && last.startedAt >= result.endedAt;
  return hasLanded ? 'landed' : 'open';
}

/** A finished landing of a workspace. */
export interface StoredLanding {
  readonly number: number;
  /** The directory of its journal. Absolute. */
  readonly directory: string;
  readonly journal: LandingJournal;
}

/** Finds the newest finished landing of a workspace, or the newest one of a kind. A damaged journal counts as none. */
export function findNewestLanding(
  directory: string,
  kind?: LandingJournal['kind'],
): StoredLanding | null {
  for (const landing of listNewestFirst(directory)) {
    if (kind === undefined || landing.journal.kind === kind) return landing;
  }
  return null;
}

/**
 * Finds the landing that was undone last and whose changes have not landed again since. Null if there is none, or if the
 * task has left other changes since, which have landed. A damaged journal counts as none.
 */
export function findUndoneLanding(directory: string): StoredLanding | null {
  const repeated = new Set<number>();
  for (const { journal } of listNewestFirst(directory)) {
    const { kind, undoes, repeats } = journal;
    if (kind === 'apply') {
      if (repeats === undefined) return null;
      repeated.add(repeats);
    } else if (undoes !== null && !repeated.has(undoes)) {
      return readLanding(directory, undoes);
    }
  }
  return null;
}

function* listNewestFirst(directory: string): Iterable<StoredLanding> {
  for (const number of listLandingNumbers(directory).toReversed()) {
    const landing = readLanding(directory, number);
    if (landing !== null) yield landing;
  }
}

function readLanding(directory: string, number: number): StoredLanding | null {
  const numbered = numberedDirectory(directory, number);
  const journal = readJournalIfWhole(numbered);
  return journal === null ? null : { number, directory: numbered, journal };
}

/** Reads the changes that a finished landing has made. Throws MusterError if its contents are damaged. */
export function readLandedChanges({
  directory,
  journal,
}: StoredLanding): readonly PathDifference[] {
  using contents = openJournalContents(directory);
  return listLandedChanges(journal, contents);
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
