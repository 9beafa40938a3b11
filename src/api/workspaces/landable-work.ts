import { dirname } from 'node:path';
import { MusterError } from '../../base/errors.ts';
import type { PathDifference } from '../../workspaces/difference.ts';
import {
  findUndoneLanding,
  readLandedChanges,
  type StoredLanding,
} from '../../workspaces/landing-state.ts';
import { numberedDirectory, readJournal } from '../../workspaces/landing/journal.ts';
import { listDifferences } from '../../workspaces/list-differences.ts';
import type { WorkspaceRecord } from '../../workspaces/record.ts';
import type { WorkspaceAccess } from '../../workspaces/worktree-state.ts';

/** The changes of a task that can land. */
export interface LandableWork {
  readonly record: WorkspaceRecord;
  readonly differences: readonly PathDifference[];
  /**
   * The last commit of the task, if it has made commits that can become part of the history. It may be gone from the
   * repository after an undo. Otherwise null.
   */
  readonly tip: string | null;
  /** The number of the undone landing that had these changes; null if they are in the workspace. */
  readonly repeats: number | null;
}

/**
 * Reads the changes of a task that can land: those in its workspace, or after an undo those of the landing that was undone
 * last. Throws MusterError; NOT_FOUND if there are none.
 */
export async function readLandableWork(
  record: WorkspaceRecord,
  access: WorkspaceAccess,
): Promise<LandableWork> {
  if (!hasFiles(record)) return readUndoneWork(record);
  const differences = await listDifferences(record, access);
  return { record, differences, tip: findTip(record), repeats: null };
}

/** Tells whether a workspace has files: it was neither removed, nor is it being created. */
export function hasFiles({ status }: WorkspaceRecord): boolean {
  return status === 'ready' || status === 'ended';
}

function readUndoneWork(record: WorkspaceRecord): LandableWork {
  const undone = findUndone(record);
  if (undone === null) throw noChanges(record);
  const { endedAt = '' } = record.result ?? {};
  // If the task has worked in another workspace since, the record is about that one.
  const isOfRecord = endedAt <= findFirstStart(undone, dirname(record.tree));
  return {
    record,
    differences: readLandedChanges(undone),
    tip: isOfRecord ? findTip(record) : null,
    repeats: undone.number,
  };
}

/** Creates the error that says that a workspace has no changes which could land. */
export function noChanges({ id, status, isDiscarded }: WorkspaceRecord): MusterError {
  const state = isDiscarded === true ? 'discarded' : status;
  return new MusterError(
    'NOT_FOUND',
    `the workspace of task ${id} is ${state}, so there are no changes`,
  );
}

function findUndone({ status, isDiscarded, tree }: WorkspaceRecord): StoredLanding | null {
  if (status !== 'removed' || isDiscarded === true) return null;
  return findUndoneLanding(dirname(tree));
}

/** Returns the time at which the changes of a landing landed for the first time. */
function findFirstStart({ journal }: StoredLanding, directory: string): string {
  let first = journal;
  while (first.repeats !== undefined) {
    const earlier = readJournal(numberedDirectory(directory, first.repeats));
    if (earlier === null) break;
    first = earlier;
  }
  return first.startedAt;
}

/** Finds the last commit of a task. Uncommitted changes of the user, from which it may have begun, must not be in it. */
function findTip({ git, result }: WorkspaceRecord): string | null {
  const { commit = null, commits = 0 } = result ?? {};
  return git === undefined || git.head !== git.base || commits === 0 ? null : commit;
}
