import { systemErrorCode } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import { isJsonObject } from '../base/json.ts';
import { parseJsonLine } from '../base/jsonl.ts';
import { writeAllBytes, type FilePort } from './files/file-port.ts';

const NOTE_VERSION = 1;
const DAY_MS = 86_400_000;

/** What the last sweep found, so that the next ones need not look. Milliseconds since the epoch. */
export interface SweepRecord {
  readonly at: number;
  /** Nothing has expired as long as what is asked for lies before it. */
  readonly oldest: number;
  /** When blobs were last collected. */
  readonly collected: number;
}

/** Whether a note still says that there is nothing to do. */
export function isSweepUnneeded(
  note: SweepRecord | undefined,
  options: { readonly endedBefore: number; readonly now: number },
): boolean {
  return (
    note !== undefined && isWithinDay(note.at, options.now) && options.endedBefore <= note.oldest
  );
}

/** Whether something was done less than a day ago. A clock that was set back makes it long ago. */
export function isWithinDay(at: number, now: number): boolean {
  return at <= now && now - at < DAY_MS;
}

/** Undefined where there is none, or none that can be used. */
export function readSweepRecord(files: FilePort, path: string): SweepRecord | undefined {
  let text: string;
  try {
    text = files.readFile(path).toString('utf8');
  } catch (thrown) {
    if (systemErrorCode(thrown) === 'ENOENT') return undefined;
    throw thrown;
  }
  const value = parseJsonLine(text);
  if (!isJsonObject(value) || value['v'] !== NOTE_VERSION) return undefined;
  const { at, oldest, collected } = value;
  const known =
    typeof at === 'number' && typeof oldest === 'number' && typeof collected === 'number';
  return known ? { at, oldest, collected } : undefined;
}

export function writeSweepRecord(files: FilePort, path: string, note: SweepRecord): void {
  const draft = `${path}.${newId()}.new`;
  const fd = files.openNew(draft);
  try {
    try {
      writeAllBytes(files, fd, Buffer.from(JSON.stringify({ v: NOTE_VERSION, ...note })));
    } finally {
      files.close(fd);
    }
    files.rename(draft, path);
  } catch (thrown) {
    files.unlink(draft);
    throw thrown;
  }
}

/** From now on the next sweep looks again: what came in may be older than all that was there. */
export function removeSweepRecord(files: FilePort, path: string): void {
  if (files.stat(path) !== undefined) files.unlink(path);
}
