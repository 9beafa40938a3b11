import type { JsonValue } from '../../../base/json.ts';
import type { Repair } from '../../../protocol/repair.ts';

/** The result of lenient parsing, with the repairs that it needed. */
export type LenientJson =
  | { readonly ok: true; readonly value: JsonValue; readonly repairs: readonly Repair[] }
  | { readonly ok: false };

const UNREADABLE = { ok: false } as const;

/**
 * Parses JSON in which strings may contain raw line breaks and other control characters, although
 * valid JSON must escape them. Nothing else is repaired: JSON that is cut off is not completed.
 */
export function parseLenientJson(text: string): LenientJson {
  const strict = parse(text);
  if (strict.ok || !CONTROL.test(text)) return strict;
  const repaired = parse(escapeControls(text));
  return repaired.ok ? { ...repaired, repairs: ['raw_line_break'] } : UNREADABLE;
}

/**
 * Parses the JSON of an event or a document. In addition to raw line breaks, `NaN` and `Infinity` are accepted, which
 * Python writes although they are not valid JSON. They become null, as `JSON.stringify` writes them.
 */
export function parseEventJson(text: string): LenientJson {
  const parsed = parseLenientJson(text);
  if (parsed.ok || !NON_FINITE.test(text)) return parsed;
  const finite = text.replace(STRING_OR_NON_FINITE, (token) =>
    token.startsWith('"') ? token : 'null',
  );
  const repaired = parseLenientJson(finite);
  if (!repaired.ok) return UNREADABLE;
  return { ...repaired, repairs: ['number_not_in_json', ...repaired.repairs] };
}

function parse(text: string): LenientJson {
  try {
    const value: JsonValue = JSON.parse(text);
    return { ok: true, value, repairs: [] };
  } catch {
    // Invalid JSON is not an error here, because the caller decides what it means.
    return UNREADABLE;
  }
}

// oxlint-disable-next-line no-control-regex -- the pattern searches for control characters
const CONTROL = /[\u0000-\u001f]/;
/** Matches a complete string literal. Only the control characters inside literals are escaped. */
const STRING = /"(?:[^"\\]|\\[^])*"/g;
// oxlint-disable-next-line no-control-regex -- as above
const CONTROLS = /[\u0000-\u001f]/g;

function escapeControls(text: string): string {
  return text.replace(STRING, (literal) =>
    literal.replace(CONTROLS, (character) => JSON.stringify(character).slice(1, -1)),
  );
}

const NON_FINITE = /\b(?:NaN|Infinity)\b/;
const STRING_OR_NON_FINITE = /"(?:[^"\\]|\\[^])*"|-?\b(?:NaN|Infinity)\b/g;
