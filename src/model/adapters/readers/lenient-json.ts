import type { JsonValue } from '../../../base/json.ts';

export type LenientJson =
  | { readonly ok: true; readonly value: JsonValue; readonly isRepaired: boolean }
  | { readonly ok: false };

const UNREADABLE: LenientJson = { ok: false };

/**
 * Parses JSON in which strings may hold raw line breaks and other control characters, which JSON wants
 * escaped. Nothing else is repaired: JSON that is cut off stays unreadable.
 */
export function parseLenientJson(text: string): LenientJson {
  const strict = parse(text);
  if (strict.ok || !CONTROL.test(text)) return strict;
  const repaired = parse(escapeControls(text));
  return repaired.ok ? { ...repaired, isRepaired: true } : UNREADABLE;
}

function parse(text: string): LenientJson {
  try {
    const value: JsonValue = JSON.parse(text);
    return { ok: true, value, isRepaired: false };
  } catch {
    // Not an error here: the caller decides what unreadable text means.
    return UNREADABLE;
  }
}

// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const CONTROL = /[\u0000-\u001f]/;
/** A string literal, as far as it goes; what stands between literals needs no change. */
const STRING = /"(?:[^"\\]|\\[^])*"/g;
// oxlint-disable-next-line no-control-regex -- as above
const CONTROLS = /[\u0000-\u001f]/g;

function escapeControls(text: string): string {
  return text.replace(STRING, (literal) =>
    literal.replace(CONTROLS, (sign) => JSON.stringify(sign).slice(1, -1)),
  );
}
