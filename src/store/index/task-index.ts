import { basename, dirname, join } from 'node:path';
import { atScopeEnd } from '../../base/at-scope-end.ts';
import { systemErrorCode } from '../../base/errors.ts';
import { isJsonObject } from '../../base/json.ts';
import { findLines, parseJsonLine, completeLinesLength } from '../../base/jsonl.ts';
import { TASK_STATUSES } from '../../protocol/result.ts';
import type { Ledger, LedgerEntry } from '../../protocol/state/ledger.ts';
import { DescriptorCache } from '../files/descriptor-cache.ts';
import {
  readFileIfExists,
  writeAllBytes,
  writeViaDraft,
  type FilePort,
} from '../files/file-port.ts';
import type { OwnerLocks } from '../locks/owner-locks.ts';
import type { TaskSummary } from '../task-store.ts';

const INDEX_VERSION = 1;
/** The number of lines below which compaction is not worthwhile. */
const COMPACT_MIN_LINES = 1000;

/** The ended tasks in the index, and the number of its lines. */
export interface IndexContents {
  readonly ended: ReadonlyMap<string, TaskSummary>;
  readonly lines: number;
}

/**
 * A file with a line for each task that ended. The last line of a task counts, and a line without an end removes the
 * task. The index is only a cache: tasks that are missing from it are read from their logs and added again.
 */
export class TaskIndex {
  readonly #files: FilePort;
  readonly #locks: OwnerLocks;
  readonly #path: string;
  readonly #descriptors: DescriptorCache;

  constructor(
    files: FilePort,
    locks: OwnerLocks,
    path: string,
    descriptors = new DescriptorCache(files, 1),
  ) {
    this.#files = files;
    this.#locks = locks;
    this.#path = path;
    this.#descriptors = descriptors;
  }

  read(): IndexContents {
    return parseIndex(readFileIfExists(this.#files, this.#path) ?? Buffer.alloc(0));
  }

  /**
   * Finds the ids of ended tasks with this reuse key, the task that ended last first. Parses only lines that contain
   * the key.
   */
  findByReuseKey(key: string): readonly string[] {
    const bytes = readFileIfExists(this.#files, this.#path) ?? Buffer.alloc(0);
    const wanted = Buffer.from(JSON.stringify({ reuseKey: key }).slice(1, -1));
    const ids = new Set<string>();
    for (let at = bytes.lastIndexOf(wanted); at > 0; at = bytes.lastIndexOf(wanted, at - 1)) {
      const end = bytes.indexOf('\n', at);
      const line = bytes.toString(
        'utf8',
        bytes.lastIndexOf('\n', at) + 1,
        end < 0 ? undefined : end,
      );
      const summary = parseSummary(line);
      if (summary?.reuseKey === key && summary.ended !== null) ids.add(summary.id);
    }
    return [...ids];
  }

  /** Adds or replaces tasks. A task whose `ended` is null is removed. */
  put(summaries: readonly TaskSummary[]): void {
    if (summaries.length === 0) return;
    const lines = Buffer.from(summaries.map(formatIndexLine).join(''));
    // Append again if the file was replaced meanwhile, because compaction may have read it before the lines were added.
    while (!this.#append(lines));
  }

  /** Compacts the index if more than half of its lines are out of date. */
  compactIfStale(contents: IndexContents): void {
    if (contents.lines < COMPACT_MIN_LINES || contents.lines < 2 * contents.ended.size) return;
    this.#rewrite(new Set());
  }

  /**
   * Removes all lines of these tasks, so that nothing about them remains. Returns false if another process is
   * compacting the index at this moment.
   */
  remove(ids: ReadonlySet<string>): boolean {
    if (ids.size === 0 || this.#files.stat(this.#path) === undefined) return true;
    return this.#rewrite(ids);
  }

  /** Appends lines. Returns false if they must be appended again, because the file did not exist or was replaced. */
  #append(lines: Buffer): boolean {
    const path = this.#path;
    try {
      const inode = this.#descriptors.withDescriptor(path, (fd) =>
        appendLines(this.#files, fd, lines),
      );
      if (this.#files.stat(path)?.inode === inode) return true;
      this.#descriptors.close(path);
    } catch (thrown) {
      if (systemErrorCode(thrown) !== 'ENOENT') throw thrown;
      this.#createFile();
    }
    return false;
  }

  #createFile(): void {
    try {
      this.#descriptors.add(this.#path, this.#files.openNew(this.#path));
    } catch (thrown) {
      // Another process created it meanwhile.
      if (systemErrorCode(thrown) !== 'EEXIST') throw thrown;
    }
  }

  #rewrite(excluded: ReadonlySet<string>): boolean {
    const lock = `${this.#path}.lock`;
    if (this.#locks.acquire(lock) !== undefined) return false;
    try {
      this.#removeDrafts();
      try {
        this.#compact(excluded);
      } catch (thrown) {
        // On a full disk, having no index is better than an index that still contains deleted tasks.
        if (excluded.size === 0 || !isDiskFull(thrown)) throw thrown;
        this.#files.unlink(this.#path);
      }
      return true;
    } finally {
      // The open file is no longer the index, and its space on the disk would not be freed.
      this.#descriptors.close(this.#path);
      this.#locks.release(lock);
    }
  }

  /** Removes the drafts of processes that died during compaction. Only the holder of the lock creates drafts. */
  #removeDrafts(): void {
    const directory = dirname(this.#path);
    const prefix = `${basename(this.#path)}.`;
    for (const name of this.#files.list(directory)) {
      if (!name.startsWith(prefix) || !name.endsWith('.new')) continue;
      this.#files.unlink(join(directory, name));
    }
  }

  /**
   * Replaces the index by a file without outdated lines and excluded tasks. Then adds the lines that other processes
   * appended to the old file meanwhile.
   */
  #compact(excluded: ReadonlySet<string>): void {
    const files = this.#files;
    const old = files.openRead(this.#path);
    using _close = atScopeEnd(() => files.close(old));
    const before = readFrom(files, old, 0);
    const summaries = [...parseIndex(before).ended.values()];
    const remaining = summaries.filter(({ id }) => !excluded.has(id));
    writeViaDraft(files, this.#path, Buffer.from(remaining.map(formatIndexLine).join('')));
    const appended = readFrom(files, old, before.length);
    if (appended.length > 0) while (!this.#append(appended));
  }
}

function isDiskFull(thrown: unknown): boolean {
  const code = systemErrorCode(thrown);
  return code === 'ENOSPC' || code === 'EDQUOT';
}

function formatIndexLine({ ledger, ...summary }: TaskSummary): string {
  const rows = ledger === undefined ? {} : { ledger: formatLedgerRows(ledger) };
  return `${JSON.stringify({ v: INDEX_VERSION, ...summary, ...rows })}\n`;
}

function parseIndex(bytes: Buffer): IndexContents {
  const ended = new Map<string, TaskSummary>();
  let lines = 0;
  for (const { start, end } of findLines(bytes)) {
    if (start === end) continue;
    lines += 1;
    const summary = parseSummary(bytes.toString('utf8', start, end));
    if (summary === undefined) continue;
    // Delete the entry first, so that the map has the order of the last lines.
    ended.delete(summary.id);
    if (summary.ended !== null) ended.set(summary.id, summary);
  }
  return { ended, lines };
}

/** Parses a line; undefined if the line is damaged or of another version. The task is then read from its log. */
function parseSummary(line: string): TaskSummary | undefined {
  const value = parseJsonLine(line);
  if (!isJsonObject(value)) return undefined;
  // A task that has ended has no open questions and waits for nothing.
  const { v, ledger: rows, heldBy: _held, questions: _asked, ...summary } = value;
  if (v !== INDEX_VERSION || !isSummary(summary)) return undefined;
  if (rows === undefined) return summary;
  const ledger = parseLedgerRows(rows);
  return ledger === undefined ? undefined : { ...summary, ledger };
}

const STATUSES: ReadonlySet<unknown> = new Set(TASK_STATUSES);
const STRINGS = ['id', 'root', 'agent', 'description', 'model', 'cwd', 'source'] as const;
const OPTIONAL_STRINGS = ['reused', 'reuseKey'] as const;
const NUMBERS = ['depth', 'created', 'turns', 'paidTokens'] as const;
const NULLABLE_NUMBERS = ['ended', 'costUsd'] as const;

function isSummary(value: object): value is TaskSummary {
  const fields: Readonly<Record<string, unknown>> = { ...value };
  return (
    STATUSES.has(fields['status']) &&
    (fields['parent'] === null || typeof fields['parent'] === 'string') &&
    STRINGS.every((name) => typeof fields[name] === 'string') &&
    NUMBERS.every((name) => typeof fields[name] === 'number') &&
    OPTIONAL_STRINGS.every(
      (name) => fields[name] === undefined || typeof fields[name] === 'string',
    ) &&
    NULLABLE_NUMBERS.every((name) => fields[name] === null || typeof fields[name] === 'number')
  );
}

/** Reads the complete lines of an open file from `position` on. */
function readFrom(files: FilePort, fd: number, position: number): Buffer {
  const bytes = Buffer.alloc(Math.max(0, files.statOpen(fd).size - position));
  const count = bytes.length === 0 ? 0 : files.readAt(fd, bytes, position);
  const read = bytes.subarray(0, count);
  return read.subarray(0, completeLinesLength(read));
}

/** Appends lines to an open file. Returns the inode of the file. */
function appendLines(files: FilePort, fd: number, lines: Buffer): number {
  const { size, inode } = files.statOpen(fd);
  // Begin with a newline, so that an incomplete last line does not swallow the next line.
  writeAllBytes(files, fd, size === 0 ? lines : Buffer.concat([Buffer.from('\n'), lines]));
  return inode;
}

/**
 * A compact form of an entry for the index, which may contain tens of thousands: day, model, whether it is estimated,
 * number of answers, their usage (input, output, cache read, cache write, reasoning), USD, number of answers without a
 * price, and sources of prices.
 */
type LedgerRow = readonly [
  string,
  string,
  0 | 1,
  number,
  readonly number[],
  number,
  number,
  readonly string[],
];

export function formatLedgerRows(ledger: Ledger): readonly LedgerRow[] {
  return ledger.map(({ day, model, isEstimated, answers, usage, costUsd, unpriced, pricedBy }) => {
    const { input, output, cacheRead, cacheWrite, reasoning } = usage;
    const tokens = [input, output, cacheRead, cacheWrite, reasoning];
    return [day, model, isEstimated ? 1 : 0, answers, tokens, costUsd, unpriced, pricedBy];
  });
}

/** Parses the rows of a ledger; undefined if they are malformed. */
export function parseLedgerRows(rows: unknown): Ledger | undefined {
  if (!Array.isArray(rows)) return undefined;
  const entries: LedgerEntry[] = [];
  for (const row of rows) {
    const entry = parseRow(row);
    if (entry === undefined) return undefined;
    entries.push(entry);
  }
  return entries;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

function parseRow(row: unknown): LedgerEntry | undefined {
  if (!Array.isArray(row)) return undefined;
  const [day, model, isEstimated, answers, tokens, costUsd, unpriced, pricedBy]: unknown[] = row;
  if (typeof day !== 'string' || !DAY.test(day) || typeof model !== 'string') return undefined;
  if (!isCount(answers) || !isCount(costUsd) || !isCount(unpriced)) return undefined;
  if (!Array.isArray(tokens) || !Array.isArray(pricedBy)) return undefined;
  const [input, output, cacheRead, cacheWrite, reasoning] = tokens.filter(isCount);
  const sources = pricedBy.filter((source) => typeof source === 'string');
  if (input === undefined || output === undefined || cacheRead === undefined) return undefined;
  if (cacheWrite === undefined || reasoning === undefined) return undefined;
  return {
    day,
    model,
    isEstimated: isEstimated === 1,
    answers,
    usage: { input, output, cacheRead, cacheWrite, reasoning },
    costUsd,
    unpriced,
    pricedBy: sources,
  };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
