import type { JsonValue } from '../../base/json.ts';
import type { Field, Fields } from './fields.ts';

/** `key: value`, the value starting with a letter or digit and printable ASCII throughout. */
const ENTRY = /^([A-Za-z][\w-]*): +([A-Za-z0-9][ -~]*)$/;
/** Inside a plain value these begin a mapping or a comment. */
const NOT_PLAIN = /: |:$| #/;
/** Words that the core schema reads as something other than a string. */
const CONSTANT = new Map<string, JsonValue>([
  ['true', true],
  ['false', false],
]);
const CONSTANT_LIKE = /^(?:true|false|null)$/i;
const INTEGER = /^(?:0|[1-9]\d{0,14})$/;

/** `key:`, before a list. */
const LIST_KEY = /^([A-Za-z][\w-]*):$/;
/** `- value` with any indent. */
const ITEM = /^( *)- +([A-Za-z0-9][ -~]*)$/;

/**
 * Reads front matter that consists of flat `key: plain value` lines and lists of plain values, and
 * nothing else, without the YAML library: it takes longer to load than Muster may take to start.
 * Undefined for anything that could mean more; what it does return equals what the library gives.
 */
export function parseSimple(yaml: string, firstLine: number): Fields | undefined {
  const fields = new Map<string, Field>();
  const lines = yaml.split('\n');
  for (let index = 0; index < lines.length; index += 1) {
    const text = lines[index] ?? '';
    if (text === '') continue;
    const line = firstLine + index;
    const [, key, raw] = ENTRY.exec(text) ?? LIST_KEY.exec(text) ?? [];
    if (key === undefined || fields.has(key)) return undefined;
    const list = raw === undefined ? plainList(lines, index + 1) : undefined;
    const value = list ?? (raw === undefined ? undefined : plainValue(raw.trimEnd()));
    if (value === undefined) return undefined;
    fields.set(key, { value, line });
    index += list?.length ?? 0;
  }
  return fields.size === 0 ? undefined : fields;
}

/** The items from this line on, all with one indent; undefined when there is none, or one is not plain. */
function plainList(lines: readonly string[], from: number): readonly JsonValue[] | undefined {
  const items: JsonValue[] = [];
  const indent = ITEM.exec(lines[from] ?? '')?.[1];
  for (const text of lines.slice(from)) {
    const [, own, raw] = ITEM.exec(text) ?? [];
    if (own === undefined || raw === undefined) break;
    const value = own === indent ? plainValue(raw.trimEnd()) : undefined;
    if (value === undefined) return undefined;
    items.push(value);
  }
  return items.length === 0 ? undefined : items;
}

function plainValue(text: string): JsonValue | undefined {
  if (NOT_PLAIN.test(text)) return undefined;
  if (CONSTANT_LIKE.test(text)) return CONSTANT.get(text);
  if (INTEGER.test(text)) return Number(text);
  // Octal, hexadecimal, fractions, exponents: the library knows them all.
  return /^\d\S*$/.test(text) ? undefined : text;
}
