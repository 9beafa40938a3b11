import { byteLength } from '../../base/text.ts';
import { mapStrings } from './map-strings.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';

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
export function encodeLogLine(
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
export function isBlobMark(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith(BLOB_MARK);
}

/** Undoes `encodeLine` on the parsed line; `get` gives the text of a blob. */
export function decodeLogValue(value: unknown, get: (hash: string) => string): unknown {
  return unpackHistory(
    mapStrings(value, (text) => {
      if (!text.startsWith(ESCAPE)) return text;
      return text.startsWith(BLOB_MARK) ? get(text.slice(BLOB_MARK.length)) : text.slice(1);
    }),
  );
}

/**
 * A conversation that a task has inherited, or gets a summary of, stands in its first event. Siblings have
 * the same, so what is large of it, of more than `largeLength` characters, is written as one text, which is
 * kept once as a blob like other large strings.
 */
function packHistory(event: unknown, largeLength: number): unknown {
  return withHistory(event, (part) => {
    const text = JSON.stringify(part);
    return text.length > largeLength ? text : part;
  });
}

/** Undoes `packHistory`. Of one whose text is lost nothing is left. */
function unpackHistory(event: unknown): unknown {
  return withHistory(event, (part, lost) => (typeof part === 'string' ? parsed(part, lost) : part));
}

/** Changes a large part; `lost`: what stands for one that nobody can read any more. */
type Change = (part: unknown, lost: object) => unknown;

const NO_PREFIX = { system: [], tools: [] };

function withHistory(event: unknown, change: Change): unknown {
  if (!isJsonObject(event) || event['type'] !== 'task.created') return event;
  const { spec } = event;
  if (!isJsonObject(spec)) return event;
  const { inherited, summarised } = spec;
  if (!isJsonObject(inherited) && !isJsonObject(summarised)) return event;
  return {
    ...event,
    spec: {
      ...spec,
      ...(isJsonObject(inherited) && { inherited: withMessages(inherited, change) }),
      ...(isJsonObject(summarised) && {
        summarised: {
          ...withMessages(summarised, change),
          prefix: change(summarised['prefix'], NO_PREFIX),
        },
      }),
    },
  };
}

function withMessages(conversation: JsonObject, change: Change) {
  return { ...conversation, messages: change(conversation['messages'], []) };
}

function parsed(text: string, lost: object): unknown {
  try {
    const part: unknown = JSON.parse(text);
    return Array.isArray(part) === Array.isArray(lost) && typeof part === 'object' ? part : lost;
  } catch {
    // Its blob is lost: whoever read the text has noted that.
    return lost;
  }
}
