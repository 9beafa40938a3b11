import { basename, dirname, join } from 'node:path';
import { systemErrorCode } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import { isJsonObject } from '../base/json.ts';
import { findLines, parseJsonLine, completeLinesLength } from '../base/jsonl.ts';
import { TASK_STATUSES } from '../protocol/result.ts';
import { Descriptors } from './descriptors.ts';
import { writeWhole, type FilePort } from './file-port.ts';
import { fromRows, toRows } from './ledger-row.ts';
import type { OwnerLocks } from './owner-lock.ts';
import type { TaskSummary } from './task-store.ts';

const INDEX_VERSION = 1;
/** Below this many lines an index is not worth writing anew. */
const COMPACT_MIN_LINES = 1000;

/** What the index says: the ended tasks, and how many lines it took to say so. */
export interface IndexContents {
  readonly ended: ReadonlyMap<string, TaskSummary>;
  readonly lines: number;
}

/**
 * One line for each task that ended; the last line of a task wins, and one without an end takes the
 * task out again. Only a cache: what it lacks is read from the logs, and what it lost grows back.
 */
export class TaskIndex {
  readonly #files: FilePort;
  readonly #locks: OwnerLocks;
  readonly #path: string;
  readonly #descriptors: Descriptors;

  constructor(
    files: FilePort,
    locks: OwnerLocks,
    path: string,
    descriptors = new Descriptors(files, 1),
  ) {
    this.#files = files;
    this.#locks = locks;
    this.#path = path;
    this.#descriptors = descriptors;
  }

  read(): IndexContents {
    return parseIndex(readIfThere(this.#files, this.#path) ?? Buffer.alloc(0));
  }

  /** Ids of tasks that ended with this key, the last one first; only lines that hold it are read. */
  withReuseKey(key: string): readonly string[] {
    const bytes = readIfThere(this.#files, this.#path) ?? Buffer.alloc(0);
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

  /** Adds or replaces tasks; one whose `ended` is null is no longer covered. */
  put(summaries: readonly TaskSummary[]): void {
    if (summaries.length === 0) return;
    const lines = Buffer.from(summaries.map(indexLine).join(''));
    // Once more when the file was replaced meanwhile: what compaction reads last may not hold the lines.
    while (!this.#append(lines));
  }

  /** Writes the index anew when more than half of it is out of date. */
  compactIfStale(contents: IndexContents): void {
    if (contents.lines < COMPACT_MIN_LINES || contents.lines < 2 * contents.ended.size) return;
    this.#rewrite(new Set());
  }

  /**
   * Takes out every line of these tasks, so that no word of them stays; false: another process
   * writes the index anew just now.
   */
  remove(ids: ReadonlySet<string>): boolean {
    if (ids.size === 0 || this.#files.stat(this.#path) === undefined) return true;
    return this.#rewrite(ids);
  }

  /** Appends lines; false when they have to be appended again: there was no file, or another one since. */
  #append(lines: Buffer): boolean {
    const path = this.#path;
    try {
      const inode = this.#descriptors.use(path, (fd) => appendLines(this.#files, fd, lines));
      if (this.#files.stat(path)?.inode === inode) return true;
      this.#descriptors.forget(path);
    } catch (thrown) {
      if (systemErrorCode(thrown) !== 'ENOENT') throw thrown;
      this.#make();
    }
    return false;
  }

  #make(): void {
    try {
      this.#descriptors.adopt(this.#path, this.#files.openNew(this.#path));
    } catch (thrown) {
      // Another process made it meanwhile: that one it is.
      if (systemErrorCode(thrown) !== 'EEXIST') throw thrown;
    }
  }

  #rewrite(without: ReadonlySet<string>): boolean {
    const lock = `${this.#path}.lock`;
    if (this.#locks.acquire(lock) !== undefined) return false;
    try {
      this.#removeDrafts();
      try {
        this.#compact(without);
      } catch (thrown) {
        // Where there is no room for a new one, none is better than one that tells of deleted tasks.
        if (without.size === 0 || !isFull(thrown)) throw thrown;
        this.#files.unlink(this.#path);
      }
      return true;
    } finally {
      // What was open is no longer the index, and would hold its room on the disk.
      this.#descriptors.forget(this.#path);
      this.#locks.release(lock);
    }
  }

  /** Of those who died while they wrote the index anew: only the lock's holder makes any. */
  #removeDrafts(): void {
    const directory = dirname(this.#path);
    const beginning = `${basename(this.#path)}.`;
    for (const name of this.#files.list(directory)) {
      if (!name.startsWith(beginning) || !name.endsWith('.new')) continue;
      this.#files.unlink(join(directory, name));
    }
  }

  /** Others append while this runs: what they add to the old file after it was read is carried over. */
  #compact(without: ReadonlySet<string>): void {
    const files = this.#files;
    const draft = `${this.#path}.${newId()}.new`;
    const old = files.openRead(this.#path);
    try {
      const before = readFrom(files, old, 0);
      const kept = [...parseIndex(before).ended.values()].filter(({ id }) => !without.has(id));
      const lines = kept.map(indexLine).join('');
      try {
        writeNew(files, draft, Buffer.from(lines));
        files.rename(draft, this.#path);
      } catch (thrown) {
        if (files.stat(draft) !== undefined) files.unlink(draft);
        throw thrown;
      }
      const late = readFrom(files, old, before.length);
      if (late.length > 0) while (!this.#append(late));
    } finally {
      files.close(old);
    }
  }
}

function isFull(thrown: unknown): boolean {
  const code = systemErrorCode(thrown);
  return code === 'ENOSPC' || code === 'EDQUOT';
}

function indexLine({ ledger, ...summary }: TaskSummary): string {
  const rows = ledger === undefined ? {} : { ledger: toRows(ledger) };
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
    // Deleted first: the map's order is that of the last lines.
    ended.delete(summary.id);
    if (summary.ended !== null) ended.set(summary.id, summary);
  }
  return { ended, lines };
}

/** Undefined for a line that is damaged or of another version: its task is read from its log. */
function parseSummary(line: string): TaskSummary | undefined {
  const value = parseJsonLine(line);
  if (!isJsonObject(value)) return undefined;
  // What has ended asks nothing and waits for nothing.
  const { v, ledger: rows, heldBy: _held, questions: _asked, ...summary } = value;
  if (v !== INDEX_VERSION || !isSummary(summary)) return undefined;
  if (rows === undefined) return summary;
  const ledger = fromRows(rows);
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

function readIfThere(files: FilePort, path: string): Buffer | undefined {
  try {
    return files.readWhole(path);
  } catch (thrown) {
    if (systemErrorCode(thrown) === 'ENOENT') return undefined;
    throw thrown;
  }
}

function readFrom(files: FilePort, fd: number, position: number): Buffer {
  const bytes = Buffer.alloc(Math.max(0, files.statOpen(fd).size - position));
  const count = bytes.length === 0 ? 0 : files.readAt(fd, bytes, position);
  const read = bytes.subarray(0, count);
  return read.subarray(0, completeLinesLength(read));
}

function writeNew(files: FilePort, path: string, bytes: Buffer): void {
  const fd = files.openNew(path);
  try {
    writeWhole(files, fd, bytes);
  } finally {
    files.close(fd);
  }
}

/** Returns the inode of the file that now holds them. */
function appendLines(files: FilePort, fd: number, lines: Buffer): number {
  const { size, inode } = files.statOpen(fd);
  // A line that was cut short once must not swallow the next one.
  writeWhole(files, fd, size === 0 ? lines : Buffer.concat([Buffer.from('\n'), lines]));
  return inode;
}
