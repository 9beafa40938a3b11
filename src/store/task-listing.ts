import { isId } from '../base/ids.ts';
import { MusterError, systemErrorCode } from '../base/errors.ts';
import type { FilePort } from './file-port.ts';
import { inspectLog } from './log-reader.ts';
import { newestFirst, shownStatus } from './summary.ts';
import type { IndexContents, TaskIndex } from './task-index.ts';
import type { ListOptions, TaskSummary } from './task-store.ts';

const LOG_SUFFIX = '.jsonl';
const LOCK_SUFFIX = '.lock';

export interface ListingOptions extends ListOptions {
  readonly files: FilePort;
  readonly directory: string;
  readonly index: TaskIndex;
  logPath(id: string): string;
  /** The summary of a log that this process owns. */
  own(id: string): TaskSummary | undefined;
  /** Whether a living process owns the log. */
  isOwned(id: string): boolean;
  getBlob(hash: string): string;
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
export function listTasks(options: ListingOptions): readonly TaskSummary[] {
  // Names before index: who gives up a lock has written to the index before.
  const { ids, locked } = taskNames(options.files, options.directory);
  const contents = options.index.read();
  const tasks: TaskSummary[] = [];
  const uncovered: FoundLog[] = [];
  for (const id of ids) {
    const known = options.own(id) ?? (locked.has(id) ? undefined : contents.ended.get(id));
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
    tasks.push({ ...found.summary, status: shownStatus(found.summary, { owned }) });
    if (found.summary.ended !== null && !locked.has(id)) uncovered.push(found);
  }
  tendIndex(options, contents, uncovered);
  return tasks.toSorted(newestFirst);
}

function summaryFromLog(options: ListingOptions, id: string): FoundLog | undefined {
  try {
    const scan = { task: id, getBlob: options.getBlob };
    const state = inspectLog(options.files, options.logPath(id), scan, () => {});
    const bytes = state.goodBytes + state.damagedBytes + state.tornBytes;
    return state.summary === undefined ? undefined : { summary: state.summary, bytes };
  } catch (thrown) {
    // Deleted meanwhile, unreadable, or written by a newer Muster: one such log must not hide the others.
    if (systemErrorCode(thrown) !== undefined || thrown instanceof MusterError) return undefined;
    throw thrown;
  }
}

function tendIndex(
  options: ListingOptions,
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
function fillIndex(options: ListingOptions, uncovered: readonly FoundLog[]): void {
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
