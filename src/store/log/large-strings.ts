import { byteLength } from '../../base/text.ts';
import { packHistory, unpackHistory } from './large-history.ts';
import { mapStrings } from './map-strings.ts';

/** A line longer than this has its large strings moved to blobs. Bytes. */
export const LARGE_LINE_BYTES = 64 * 1024;
/** What counts as a large string. Bytes. */
export const LARGE_STRING_BYTES = 16 * 1024;

/**
 * A stored string that begins with this character (data link escape) is not meant literally: followed
 * by itself it stands for one literal character, followed by `blob:` and a hash for a blob's text.
 */
const ESCAPE = '\u0010';
const ESCAPE_IN_JSON = '\\u0010';
const BLOB_MARK = `${ESCAPE}blob:`;
const UTF8_BYTES_PER_UNIT = 3;

function exceeds(text: string, bytes: number): boolean {
  if (text.length > bytes) return true;
  return text.length * UTF8_BYTES_PER_UNIT > bytes && byteLength(text) > bytes;
}

/**
 * `value` as a line of JSON (no newline), its large strings put away with `put` if it gets too long.
 * `line` is the value's plain JSON, where that is known already.
 */
export function encodeLine(
  value: unknown,
  put: (text: string) => string,
  line = JSON.stringify(value),
): string {
  const isLarge = exceeds(line, LARGE_LINE_BYTES);
  if (!isLarge && !line.includes(ESCAPE_IN_JSON)) return line;
  return JSON.stringify(
    mapStrings(isLarge ? packHistory(value, LARGE_STRING_BYTES) : value, (text) => {
      // A blob is UTF-8: half a surrogate pair would not come back, JSON keeps it.
      if (isLarge && exceeds(text, LARGE_STRING_BYTES - 1) && text.isWellFormed()) {
        return BLOB_MARK + put(text);
      }
      return text.startsWith(ESCAPE) ? ESCAPE + text : text;
    }),
  );
}

/** Whether a line holds anything that `decodeValue` would change. */
export function hasEscapes(line: string): boolean {
  return line.includes(ESCAPE_IN_JSON);
}

/** Whether a part of a line stands for a text that `decodeValue` puts in its place. */
export function isMarked(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith(BLOB_MARK);
}

/** Undoes `encodeLine` on the parsed line; `get` gives the text of a blob. */
export function decodeValue(value: unknown, get: (hash: string) => string): unknown {
  return unpackHistory(
    mapStrings(value, (text) => {
      if (!text.startsWith(ESCAPE)) return text;
      return text.startsWith(BLOB_MARK) ? get(text.slice(BLOB_MARK.length)) : text.slice(1);
    }),
  );
}
