import { MusterError } from '../../base/errors.ts';
import { INDEX_NAME } from './index-file.ts';

/** The largest size that a call may give a note, in bytes. */
const NOTE_BYTES = 65_536;
/** The largest size of all notes of a directory together, in bytes. */
export const DIRECTORY_BYTES = 1_048_576;
/** The most notes of a directory, not counting its index. */
const DIRECTORY_NOTES = 200;

/** The sizes of a note in bytes before and after a change; `before` is null for a new note. */
export interface NoteSizes {
  readonly name: string;
  readonly before: number | null;
  readonly after: number;
}

/**
 * Throws LIMIT_EXCEEDED, naming the limit, for a change that would exceed one. A change that makes no note longer is
 * always allowed.
 */
export function requireRoom(
  { name, before, after }: NoteSizes,
  { notes, bytes }: { readonly notes: readonly unknown[]; readonly bytes: number },
): void {
  const noteProblem = `${name} would have ${after} bytes, and memory_note_bytes = ${NOTE_BYTES} is the limit: put it into several notes`;
  const all = bytes - (before ?? 0) + after;
  const isLonger = before === null || after > before;
  if (isLonger && after > NOTE_BYTES) throw new MusterError('LIMIT_EXCEEDED', noteProblem);
  if (isLonger && all > DIRECTORY_BYTES) {
    throw new MusterError(
      'LIMIT_EXCEEDED',
      `all notes here would have ${all} bytes, and memory_bytes = ${DIRECTORY_BYTES} is the limit: delete or shorten some`,
    );
  }
  if (before === null && name !== INDEX_NAME && notes.length >= DIRECTORY_NOTES) {
    throw new MusterError(
      'LIMIT_EXCEEDED',
      `there are ${notes.length} notes, and memory_notes = ${DIRECTORY_NOTES} is the limit: delete some, or add to one`,
    );
  }
}
