import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { parseJsonLine } from '../../base/jsonl.ts';
import { byteLength } from '../../base/text.ts';

/** The large strings of a line above this limit are moved to blobs. Bytes. */
export const LARGE_LINE_BYTES = 64 * 1024;
/** The size from which a string counts as large. Bytes. */
export const LARGE_STRING_BYTES = 16 * 1024;

/**
 * A stored string that begins with this character (data link escape) is encoded. Followed by itself, the character
 * stands for one literal character; followed by `blob:` and a hash, for the text of a blob.
 */
const ESCAPE = '\u0010';
const ESCAPE_IN_JSON = '\\u0010';
/** The beginning of a blob reference; the hash of the blob follows. */
const BLOB_PREFIX = `${ESCAPE}blob:`;
const UTF8_BYTES_PER_UNIT = 3;

function exceeds(text: string, bytes: number): boolean {
  if (text.length > bytes) return true;
  return text.length * UTF8_BYTES_PER_UNIT > bytes && byteLength(text) > bytes;
}

/**
 * Encodes `value` as a line of JSON without a newline. If the line would be too long, its large strings are stored with
 * `put`, which returns their hash. `line` is the plain JSON of the value, if the caller has it.
 */
export function encodeLogLine(
  value: unknown,
  put: (text: string) => string,
  line = JSON.stringify(value),
): string {
  const isLarge = exceeds(line, LARGE_LINE_BYTES);
  if (!isLarge && !line.includes(ESCAPE_IN_JSON)) return line;
  return JSON.stringify(
    mapStrings(isLarge ? packConversations(value, LARGE_STRING_BYTES) : value, (text) => {
      // A blob is UTF-8 and would lose half a surrogate pair, which JSON keeps.
      if (isLarge && exceeds(text, LARGE_STRING_BYTES - 1) && text.isWellFormed()) {
        return BLOB_PREFIX + put(text);
      }
      return text.startsWith(ESCAPE) ? ESCAPE + text : text;
    }),
  );
}

/** Checks whether `decodeLogValue` would change anything in a line. */
export function hasEscapes(line: string): boolean {
  return line.includes(ESCAPE_IN_JSON);
}

/** Checks whether a value is a blob reference, which `decodeLogValue` replaces with the text of the blob. */
export function isBlobReference(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith(BLOB_PREFIX);
}

/** Undoes `encodeLogLine` on the parsed line. `get` returns the text of a blob. */
export function decodeLogValue(value: unknown, get: (hash: string) => string): unknown {
  return unpackConversations(
    mapStrings(value, (text) => {
      if (!text.startsWith(ESCAPE)) return text;
      return text.startsWith(BLOB_PREFIX) ? get(text.slice(BLOB_PREFIX.length)) : text.slice(1);
    }),
  );
}

/**
 * Converts large parts of the conversation in a `task.created` event to JSON texts, so that they are stored as blobs
 * like other large strings. Tasks that are forked from the same conversation then share one blob. A part is large if it
 * has more than `largeLength` characters.
 */
function packConversations(event: unknown, largeLength: number): unknown {
  return changeConversations(event, (part) => {
    const text = JSON.stringify(part);
    return text.length > largeLength ? text : part;
  });
}

/** Undoes `packConversations`. If the text of a part is lost, an empty part replaces it. */
function unpackConversations(event: unknown): unknown {
  return changeConversations(event, (part, empty) =>
    typeof part === 'string' ? parsePart(part, empty) : part,
  );
}

/** Changes a part of a conversation. `empty` is the replacement for a part that is lost. */
type ChangePart = (part: unknown, empty: object) => unknown;

const EMPTY_PREFIX = { system: [], tools: [] };

function changeConversations(event: unknown, change: ChangePart): unknown {
  if (!isJsonObject(event) || event['type'] !== 'task.created') return event;
  const { spec } = event;
  if (!isJsonObject(spec)) return event;
  const { inherited, summarised } = spec;
  if (!isJsonObject(inherited) && !isJsonObject(summarised)) return event;
  return {
    ...event,
    spec: {
      ...spec,
      ...(isJsonObject(inherited) && { inherited: changeMessages(inherited, change) }),
      ...(isJsonObject(summarised) && {
        summarised: {
          ...changeMessages(summarised, change),
          prefix: change(summarised['prefix'], EMPTY_PREFIX),
        },
      }),
    },
  };
}

function changeMessages(conversation: JsonObject, change: ChangePart) {
  return { ...conversation, messages: change(conversation['messages'], []) };
}

function parsePart(text: string, empty: object): unknown {
  // If the blob is lost, the text is a message instead of JSON. The scanner has reported the lost blob.
  const part = parseJsonLine(text);
  return Array.isArray(part) === Array.isArray(empty) && typeof part === 'object' ? part : empty;
}

/**
 * Applies `change` to each string in a JSON value, but not to keys. Returns unchanged parts as the same objects, so
 * that nothing is allocated if nothing changes, which is the usual case.
 */
export function mapStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return mapArray(value, change);
  if (isJsonObject(value)) return mapObject(value, change);
  return value;
}

function mapArray(items: readonly unknown[], change: (text: string) => string): readonly unknown[] {
  let changed: unknown[] | undefined;
  for (let index = 0; index < items.length; index += 1) {
    const item = mapStrings(items[index], change);
    if (item !== items[index]) (changed ??= [...items])[index] = item;
  }
  return changed ?? items;
}

function mapObject(object: object, change: (text: string) => string): object {
  let changed: [string, unknown][] | undefined;
  const entries = Object.entries(object);
  for (let index = 0; index < entries.length; index += 1) {
    const entry = entries[index];
    if (entry === undefined) continue;
    const value = mapStrings(entry[1], change);
    if (value !== entry[1]) (changed ??= [...entries])[index] = [entry[0], value];
  }
  // Define the property instead of assigning it: a key `__proto__` in the JSON of a model must stay a key.
  return changed === undefined ? object : Object.fromEntries(changed);
}
