import { errorMessage } from './errors.ts';
import { jsonStringEnd } from './json-spans.ts';

type JsoncResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string };

/** The maximum depth of nested values. Real settings files are never nested this deep. */
const MAX_DEPTH = 64;
/** The maximum number of values and punctuation marks. Reading this many does not delay the start. */
const MAX_PARTS = 100_000;

/**
 * Parses JSON with comments and with commas before a closing bracket. The lines and columns in error messages are those
 * of the text. The time is proportional to the length of the text, whatever its content.
 */
export function parseJsonc(text: string): JsoncResult {
  const plain = toPlainJson(text.startsWith('\uFEFF') ? text.slice(1) : text);
  if (!plain.ok) return plain;
  try {
    const value: unknown = JSON.parse(plain.value);
    return { ok: true, value };
  } catch (error) {
    // JSON.parse throws only for invalid JSON.
    return { ok: false, message: errorMessage(error) };
  }
}

/** Replaces comments and extra commas by spaces. */
function toPlainJson(
  text: string,
):
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly message: string } {
  const parts: string[] = [];
  let depth = 0;
  let count = 0;
  /** The index in `parts` of a comma that only spaces have followed so far. */
  let comma = -1;
  for (let at = 0; at < text.length;) {
    const end = findTokenEnd(text, at);
    const token = text.slice(at, end);
    const isBlank = /^(?:\s|\/[/*])/.test(token);
    if (token === '{' || token === '[') depth += 1;
    if (token === '}' || token === ']') {
      depth -= 1;
      if (comma >= 0) parts[comma] = ' ';
    }
    if (!isBlank) {
      comma = token === ',' ? parts.length : -1;
      count += 1;
    }
    if (depth > MAX_DEPTH) return createFailure(`values nested more than ${MAX_DEPTH} deep`);
    if (count > MAX_PARTS)
      return createFailure(`more than ${MAX_PARTS} values and punctuation marks`);
    parts.push(isBlank ? token.replaceAll(/[^\n]/g, ' ') : token);
    at = end;
  }
  return { ok: true, value: parts.join('') };
}

function createFailure(message: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message };
}

/**
 * Returns the end of the token at a position: a string, a comment, a punctuation mark, or a run of spaces or of other
 * characters.
 */
function findTokenEnd(text: string, at: number): number {
  const char = text[at];
  if (char === '"') return jsonStringEnd(text, at);
  if (char === '/' && text[at + 1] === '/') return findEnd(text, '\n', at);
  if (char === '/' && text[at + 1] === '*') {
    const close = text.indexOf('*/', at + 2);
    return close < 0 ? text.length : close + 2;
  }
  const run = /\s/.test(char ?? '') ? /\s+/y : /[^\s"{}[\],:/]+/y;
  run.lastIndex = at;
  return at + (run.exec(text)?.[0].length ?? 1);
}

function findEnd(text: string, mark: string, from: number): number {
  const end = text.indexOf(mark, from);
  return end < 0 ? text.length : end;
}
