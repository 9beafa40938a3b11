import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonValue } from '../../../base/json.ts';
import type { Repair } from '../../../protocol/repair.ts';
import { parseLenientJson } from './lenient-json.ts';

/** The parsed arguments of a call. */
export interface CallArguments {
  /** The arguments, or the raw text if the arguments can't be parsed. */
  readonly input: JsonValue;
  /** The raw text, if the arguments can't be parsed. The model receives an error then. */
  readonly malformed?: string;
  /** The repair that the arguments needed. Default: no repair. */
  readonly repair?: Repair;
}

/**
 * Parses the arguments of a call. It repairs arguments that a server has encoded twice, that contain raw line breaks, or
 * that begin with an additional empty object. It never completes arguments that are cut off.
 */
export function parseCallArguments(raw: string): CallArguments {
  const text = raw.trim();
  if (text === '' || text === 'null') return { input: {} };
  const parsed = parseLenientJson(text);
  if (parsed.ok) {
    const inner = typeof parsed.value === 'string' ? parseLenientJson(parsed.value.trim()) : null;
    if (inner?.ok === true && isJsonObject(inner.value)) {
      return { input: inner.value, repair: 'arguments_encoded_twice' };
    }
    const [repair] = parsed.repairs;
    return { input: parsed.value, ...(repair === undefined ? {} : { repair }) };
  }
  if (text.startsWith('{}')) {
    const rest = parseLenientJson(text.slice(2));
    if (rest.ok && isJsonObject(rest.value)) return { input: rest.value, repair: 'repeated_part' };
  }
  return { input: raw, malformed: raw };
}

/** Returns true if a text is one complete JSON object. */
export function isCompleteJsonObject(text: string): boolean {
  if (!/\}\s*$/.test(text.slice(-64))) return false;
  const parsed = parseLenientJson(text);
  return parsed.ok && isJsonObject(parsed.value);
}

/** Returns true if two texts contain the same arguments, regardless of blanks and of the order of fields. */
export function areSameArguments(one: string, other: string): boolean {
  if (one.trim() === other.trim()) return true;
  if (!isCompleteJsonObject(one) || !isCompleteJsonObject(other)) return false;
  const [first, second] = [parseLenientJson(one), parseLenientJson(other)];
  return first.ok && second.ok && isDeepStrictEqual(first.value, second.value);
}
