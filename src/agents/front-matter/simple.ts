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

/**
 * Reads front matter that consists of flat `key: plain value` lines, and nothing else, without the
 * YAML library: it takes longer to load than Muster may take to start. Undefined for anything that
 * could mean more; what it does return equals what the library gives.
 */
export function parseSimple(yaml: string, firstLine: number): Fields | undefined {
  const fields = new Map<string, Field>();
  for (const [index, line] of yaml.split('\n').entries()) {
    if (line === '') continue;
    const [, key, raw] = ENTRY.exec(line) ?? [];
    if (key === undefined || raw === undefined || fields.has(key)) return undefined;
    const value = plainValue(raw.trimEnd());
    if (value === undefined) return undefined;
    fields.set(key, { value, line: firstLine + index });
  }
  return fields.size === 0 ? undefined : fields;
}

function plainValue(text: string): JsonValue | undefined {
  if (NOT_PLAIN.test(text)) return undefined;
  if (CONSTANT_LIKE.test(text)) return CONSTANT.get(text);
  if (INTEGER.test(text)) return Number(text);
  // Octal, hexadecimal, fractions, exponents: the library knows them all.
  return /^\d\S*$/.test(text) ? undefined : text;
}
