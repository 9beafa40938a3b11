import { isId } from '../../base/ids.ts';
import { errorMessage, MusterError, systemErrorCode } from '../../base/errors.ts';
import type { FilePort } from '../files/file-port.ts';
import { inspectLog, type LogState } from '../log/log-reader.ts';
import { compareNewestFirst, getDisplayStatus } from '../log/task-summary.ts';
import type { IndexContents, TaskIndex } from './task-index.ts';
import type { ListTasksOptions, LogProblem, TaskSummary } from '../task-store.ts';

const LOG_SUFFIX = '.jsonl';
const LOCK_SUFFIX = '.lock';

export interface TaskListingOptions extends ListTasksOptions {
  readonly files: FilePort;
  readonly directory: string;
  readonly index: TaskIndex;
  logPath(id: string): string;
  /** The summary of a log that this process owns. */
  getOwnSummary(id: string): TaskSummary | undefined;
  /** Whether a living process owns the log. */
  isOwned(id: string): boolean;
  getBlob(hash: string): string;
  /** Told of what could not be used of a log that was read. */
  report(id: string, problems: readonly LogProblem[]): void;
  /** Told of a log of which nothing can be listed. */
  reportUnreadable(id: string, message: string): void;
}

interface FoundLog {
  readonly summary: TaskSummary;
  /** Bytes of the log that the summary was made of. */
  readonly bytes: number;
}

/** The ids of all logs in the directory, and those that have a lock file, whoever left it. */
export function taskNames(
  files: FilePort,
  directory: string,
): { readonly ids: readonly string[]; readonly locked: ReadonlySet<string> } {
  const ids: string[] = [];
  const locked = new Set<string>();
  for (const name of files.list(directory)) {
    if (name.endsWith(LOG_SUFFIX)) {
      const id = name.slice(0, -LOG_SUFFIX.length);
      if (isId(id)) ids.push(id);
    } else if (name.endsWith(LOCK_SUFFIX)) {
      locked.add(name.slice(0, -LOCK_SUFFIX.length));
    }
  }
  return { ids, locked };
}

/**
 * All tasks, newest first. A log is opened only when the index does not cover it: it never ended, or
 * it has a lock, whose owner may be writing, or its ledger is wanted and not in the index. What turns out to have ended is added to the index.
 */
export function listStoredTasks(options: TaskListingOptions): readonly TaskSummary[] {
  // Names before index: who gives up a lock has written to the index before.
  const { ids, locked } = taskNames(options.files, options.directory);
  const contents = options.index.read();
  const tasks: TaskSummary[] = [];
  const uncovered: FoundLog[] = [];
  for (const id of ids) {
    const known =
      options.getOwnSummary(id) ?? (locked.has(id) ? undefined : contents.ended.get(id));
    if (known !== undefined && (!options.withLedgers || known.ledger !== undefined)) {
      tasks.push(known);
      continue;
    }
    const found = summaryFromLog(options, id);
    if (found === undefined) {
      if (known !== undefined) tasks.push(known);
      continue;
    }
    const owned = locked.has(id) && options.isOwned(id);
    tasks.push({ ...found.summary, status: getDisplayStatus(found.summary, { owned }) });
    if (found.summary.ended !== null && !locked.has(id)) uncovered.push(found);
  }
  tendIndex(options, contents, uncovered);
  return tasks.toSorted(compareNewestFirst);
}

function summaryFromLog(options: TaskListingOptions, id: string): FoundLog | undefined {
  try {
    const scan = { task: id, getBlob: options.getBlob };
    const state = inspectLog(options.files, options.logPath(id), scan, () => {});
    const bytes = state.goodBytes + state.damagedBytes + state.tornBytes;
    options.report(id, problemsToList(state, { isOwned: () => options.isOwned(id) }));
    return state.summary === undefined ? undefined : { summary: state.summary, bytes };
  } catch (thrown) {
    // Deleted meanwhile, unreadable, or written by a newer Muster: one such log must not hide the others.
    if (systemErrorCode(thrown) === undefined && !(thrown instanceof MusterError)) throw thrown;
    const isGone = thrown instanceof MusterError && thrown.code === 'NOT_FOUND';
    if (!isGone) options.reportUnreadable(id, `${errorMessage(thrown)}; no list or sum has it`);
    return undefined;
  }
}

/** The problems of a log; where they keep its task out of the list, they say so. */
function problemsToList(
  { summary, problems }: LogState,
  { isOwned }: { readonly isOwned: () => boolean },
): readonly LogProblem[] {
  if (summary !== undefined) return problems;
  const [first, ...others] = problems;
  if (first !== undefined) {
    return [{ ...first, message: `${first.message}; no list or sum has the task` }, ...others];
  }
  // It is being made this moment.
  if (isOwned()) return [];
  const message =
    'the log holds no event with the specification of the task; no list or sum has it';
  return [{ code: 'missing', line: 1, message }];
}

function tendIndex(
  options: TaskListingOptions,
  contents: IndexContents,
  uncovered: readonly FoundLog[],
): void {
  try {
    fillIndex(options, uncovered);
    options.index.compactIfStale(contents);
  } catch {
    // A cache on a disk that is full or read-only: the listing stands without it.
  }
}

/** A log that has grown meanwhile is taken out again: its new owner may have written to the index first. */
function fillIndex(options: TaskListingOptions, uncovered: readonly FoundLog[]): void {
  options.index.put(uncovered.map(({ summary }) => summary));
  const deleted = new Set<string>();
  for (const { summary, bytes } of uncovered) {
    const size = options.files.stat(options.logPath(summary.id))?.size;
    if (size === undefined) deleted.add(summary.id);
    else if (size !== bytes) options.index.put([{ ...summary, ended: null }]);
  }
  // When somebody else has the index just now, a sweep takes them out.
  options.index.remove(deleted);
}
