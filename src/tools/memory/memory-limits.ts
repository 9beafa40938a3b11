import { MusterError } from '../../base/errors.ts';
import { INDEX_NAME } from './index-file.ts';

/** Bytes of one note, as a call may leave it. */
const NOTE_BYTES = 65_536;
/** Bytes of all notes of a directory. */
export const DIRECTORY_BYTES = 1_048_576;
/** Notes of a directory, its index not counted. */
const DIRECTORY_NOTES = 200;

/** Sizes of a note in bytes; null: it is not there. */
export interface NoteSizes {
  readonly name: string;
  readonly before: number | null;
  readonly after: number;
}

/** Throws LIMIT_EXCEEDED, naming the limit. What makes a note no longer never does. */
export function requireRoom(
  { name, before, after }: NoteSizes,
  { notes, bytes }: { readonly notes: readonly unknown[]; readonly bytes: number },
): void {
  const most = `${name} would have ${after} bytes, and memory_note_bytes = ${NOTE_BYTES} is the limit: put it into several notes`;
  const all = bytes - (before ?? 0) + after;
  const isLonger = before === null || after > before;
  if (isLonger && after > NOTE_BYTES) throw new MusterError('LIMIT_EXCEEDED', most);
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
