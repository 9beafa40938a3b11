import type { JsonValue } from '../../../base/json.ts';
import type { Repair } from '../../../protocol/repair.ts';

/** The result of lenient parsing, with the repairs that it needed. */
export type LenientJson =
  | { readonly ok: true; readonly value: JsonValue; readonly repairs: readonly Repair[] }
  | { readonly ok: false };

const UNREADABLE = { ok: false } as const;

/**
 * Parses JSON in which strings may contain raw line breaks and other control characters, which must be escaped in
 * valid JSON. Nothing else is repaired: JSON that is cut off is not completed.
 */
export function parseLenientJson(text: string): LenientJson {
  const strict = parse(text);
  if (strict.ok || !CONTROL.test(text)) return strict;
  const repaired = parse(escapeControls(text));
  return repaired.ok ? { ...repaired, repairs: ['raw_line_break'] } : UNREADABLE;
}

/**
 * Parses the JSON of an event or a document. In addition to raw line breaks it accepts `NaN` and `Infinity`, which
 * Python writes although JSON does not have them. They become null, as in JavaScript.
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
    // This is no error here: the caller decides what invalid JSON means.
    return UNREADABLE;
  }
}

// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const CONTROL = /[\u0000-\u001f]/;
/** Matches a complete string literal. The text between literals needs no change. */
const STRING = /"(?:[^"\\]|\\[^])*"/g;
// oxlint-disable-next-line no-control-regex -- as above
const CONTROLS = /[\u0000-\u001f]/g;

function escapeControls(text: string): string {
  return text.replace(STRING, (literal) =>
    literal.replace(CONTROLS, (sign) => JSON.stringify(sign).slice(1, -1)),
  );
}

const NON_FINITE = /\b(?:NaN|Infinity)\b/;
const STRING_OR_NON_FINITE = /"(?:[^"\\]|\\[^])*"|-?\b(?:NaN|Infinity)\b/g;
