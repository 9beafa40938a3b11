import { isJsonObject } from '../base/json.ts';
import { parseJsonLine } from '../base/jsonl.ts';
import { readFileIfExists, writeViaDraft, type FilePort } from './files/file-port.ts';

const RECORD_VERSION = 1;
const DAY_MS = 86_400_000;

/** The result of the last sweep, by which the next ones see that there is nothing to do. Milliseconds since the epoch. */
export interface SweepRecord {
  /** The time of the sweep. */
  readonly at: number;
  /** The time of the oldest tree that was not deleted: nothing has expired up to this time. */
  readonly oldest: number;
  /** The time at which unused blobs were last removed. */
  readonly collected: number;
}

/** Checks whether the record shows that a sweep would find nothing to do. */
export function isSweepUnneeded(
  record: SweepRecord | undefined,
  options: { readonly endedBefore: number; readonly now: number },
): boolean {
  return (
    record !== undefined &&
    isWithinDay(record.at, options.now) &&
    options.endedBefore <= record.oldest
  );
}

/** Checks whether `at` is less than a day ago. A time in the future, after the clock was set back, counts as long ago. */
export function isWithinDay(at: number, now: number): boolean {
  return at <= now && now - at < DAY_MS;
}

/** Reads the record; undefined if it does not exist or cannot be used. */
export function readSweepRecord(files: FilePort, path: string): SweepRecord | undefined {
  const value = parseJsonLine(readFileIfExists(files, path)?.toString('utf8') ?? '');
  if (!isJsonObject(value) || value['v'] !== RECORD_VERSION) return undefined;
  const { at, oldest, collected } = value;
  const isValid =
    typeof at === 'number' && typeof oldest === 'number' && typeof collected === 'number';
  return isValid ? { at, oldest, collected } : undefined;
}

export function writeSweepRecord(files: FilePort, path: string, record: SweepRecord): void {
  writeViaDraft(files, path, Buffer.from(JSON.stringify({ v: RECORD_VERSION, ...record })));
}

/** Removes the record, so that the next sweep checks everything: imported tasks may be older than all others. */
export function removeSweepRecord(files: FilePort, path: string): void {
  if (files.stat(path) !== undefined) files.unlink(path);
}
