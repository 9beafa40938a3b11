import { errorMessage, MusterError, systemErrorCode } from '../../base/errors.ts';
import type { BlobDirectory } from '../blobs/blob-directory.ts';
import type { FilePort } from '../files/file-port.ts';
import type { TaskFiles } from '../files/task-files.ts';
import type { OwnerLocks } from '../locks/owner-locks.ts';
import { inspectLog, type LogState } from '../log/log-reader.ts';
import { compareNewestFirst, getDisplayStatus } from '../log/task-summary.ts';
import type { ListTasksOptions, LogProblem, TaskSummary } from '../task-store.ts';
import type { IndexContents, TaskIndex } from './task-index.ts';

export interface TaskListingOptions extends ListTasksOptions {
  readonly files: FilePort;
  readonly tasks: TaskFiles;
  readonly locks: OwnerLocks;
  readonly blobs: BlobDirectory;
  readonly index: TaskIndex;
  /** Returns the summary of a log that this process owns. */
  getOwnedSummary(id: string): TaskSummary | undefined;
  /** Called with the problems of a log that was read. */
  reportProblems(id: string, problems: readonly LogProblem[]): void;
  /** Called for a log that cannot be read, so that its task is not listed. */
  reportUnreadable(id: string, message: string): void;
}

interface SummarizedLog {
  readonly summary: TaskSummary;
  /** Bytes of the log that were read. */
  readonly bytes: number;
}

/**
 * Lists all tasks, from new to old. Opens a log only if the index does not cover the task: the task has not ended, or
 * it has a lock, whose owner may be writing, or its ledger (the usage per model and day) is requested and not in the
 * index. Tasks that turn out to have ended are added to the index.
 */
export function listStoredTasks(options: TaskListingOptions): readonly TaskSummary[] {
  // Read the names and locks before the index. An owner writes to the index before it releases its lock, so the index
  // is complete for every task that is seen here without a lock.
  const { ids, locked } = options.tasks.listNames();
  const contents = options.index.read();
  const tasks: TaskSummary[] = [];
  const missingFromIndex: SummarizedLog[] = [];
  for (const id of ids) {
    const cached =
      options.getOwnedSummary(id) ?? (locked.has(id) ? undefined : contents.ended.get(id));
    if (cached !== undefined && (!options.withLedgers || cached.ledger !== undefined)) {
      tasks.push(cached);
      continue;
    }
    const log = summarizeFromLog(options, id);
    if (log === undefined) {
      if (cached !== undefined) tasks.push(cached);
      continue;
    }
    const owned = locked.has(id) && isOwned(options, id);
    tasks.push({ ...log.summary, status: getDisplayStatus(log.summary, { owned }) });
    if (log.summary.ended !== null && !locked.has(id)) missingFromIndex.push(log);
  }
  updateIndex(options, contents, missingFromIndex);
  return tasks.toSorted(compareNewestFirst);
}

/** Checks whether a living process owns the log. */
function isOwned({ locks, tasks }: TaskListingOptions, id: string): boolean {
  return locks.findLiveOwner(tasks.lockPath(id)) !== undefined;
}

function summarizeFromLog(options: TaskListingOptions, id: string): SummarizedLog | undefined {
  const { files, tasks, blobs } = options;
  try {
    const scan = { task: id, getBlob: (hash: string) => blobs.getText(hash) };
    const state = inspectLog(files, tasks.logPath(id), scan, () => {});
    const bytes = state.goodBytes + state.damagedBytes + state.tornBytes;
    options.reportProblems(id, describeProblems(state, { isOwned: () => isOwned(options, id) }));
    return state.summary === undefined ? undefined : { summary: state.summary, bytes };
  } catch (thrown) {
    // The log was deleted meanwhile, is unreadable, or was written by a newer Muster. It must not hide the other tasks.
    if (systemErrorCode(thrown) === undefined && !(thrown instanceof MusterError)) throw thrown;
    const isGone = thrown instanceof MusterError && thrown.code === 'NOT_FOUND';
    if (!isGone) {
      options.reportUnreadable(
        id,
        `${errorMessage(thrown)}; the task is left out of lists and totals`,
      );
    }
    return undefined;
  }
}

/** Returns the problems of a log. If the task cannot be listed because of them, the first message says so. */
function describeProblems(
  { summary, problems, nextSeq }: LogState,
  { isOwned }: { readonly isOwned: () => boolean },
): readonly LogProblem[] {
  if (summary !== undefined) return problems;
  const [first, ...others] = problems;
  if (first !== undefined) {
    const message = `${first.message}; the task is left out of lists and totals`;
    return [{ ...first, message }, ...others];
  }
  // The task is being created at this moment, or its process was killed before the first event: nothing is lost.
  if (nextSeq === 0 || isOwned()) return [];
  const message =
    'the log has no event with the specification of the task; the task is left out of lists and totals';
  return [{ code: 'missing', line: 1, message }];
}

function updateIndex(
  options: TaskListingOptions,
  contents: IndexContents,
  missingFromIndex: readonly SummarizedLog[],
): void {
  try {
    addToIndex(options, missingFromIndex);
    options.index.compactIfStale(contents);
  } catch {
    // The index is a cache, and the disk may be full or read-only: the listing does not need it.
  }
}

/**
 * Adds tasks to the index. If a log has grown meanwhile, its task is marked as not ended again, because this process may
 * have replaced the newer entry of a new owner. If a log is gone, its task is removed.
 */
function addToIndex(options: TaskListingOptions, missingFromIndex: readonly SummarizedLog[]): void {
  const { files, tasks, index } = options;
  index.put(missingFromIndex.map(({ summary }) => summary));
  const deleted = new Set<string>();
  for (const { summary, bytes } of missingFromIndex) {
    const size = files.stat(tasks.logPath(summary.id))?.size;
    if (size === undefined) deleted.add(summary.id);
    else if (size !== bytes) index.put([{ ...summary, ended: null }]);
  }
  // If another process is compacting the index at this moment, nothing is removed: the cleanup at a later start removes
  // the deleted tasks.
  index.remove(deleted);
}
