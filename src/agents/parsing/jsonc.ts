import { errorMessage } from '../../base/errors.ts';

type JsoncResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string };

/** Deeper or larger than any settings file is, and below what would hold up a start. */
const MAX_DEPTH = 64;
const MAX_PARTS = 100_000;

/**
 * JSON with comments and with commas before a closing bracket. Lines and columns of an error are those
 * of the text. Takes time in proportion to it, whatever it holds.
 */
export function parseJsonc(text: string): JsoncResult {
  const plain = plainJson(text.startsWith('\uFEFF') ? text.slice(1) : text);
  if (!plain.ok) return plain;
  try {
    const value: unknown = JSON.parse(plain.value);
    return { ok: true, value };
  } catch (error) {
    // JSON.parse throws for nothing else than bad JSON.
    return { ok: false, message: errorMessage(error) };
  }
}

/** The same with blanks in place of what JSON does not know. */
function plainJson(
  text: string,
):
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly message: string } {
  const parts: string[] = [];
  let depth = 0;
  let count = 0;
  /** Where in `parts` a comma stands after which nothing but blanks came. */
  let comma = -1;
  for (let at = 0; at < text.length;) {
    const end = tokenEnd(text, at);
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
    if (depth > MAX_DEPTH) return tooMuch(`values nested more than ${MAX_DEPTH} deep`);
    if (count > MAX_PARTS) return tooMuch(`more than ${MAX_PARTS} values and marks`);
    parts.push(isBlank ? token.replaceAll(/[^\n]/g, ' ') : token);
    at = end;
  }
  return { ok: true, value: parts.join('') };
}

function tooMuch(message: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message };
}

/** Of a string, a comment, a run of blanks or of other characters, or a mark. */
function tokenEnd(text: string, at: number): number {
  const char = text[at];
  if (char === '"') return stringEnd(text, at);
  if (char === '/' && text[at + 1] === '/') return endOf(text, '\n', at);
  if (char === '/' && text[at + 1] === '*') {
    const close = text.indexOf('*/', at + 2);
    return close < 0 ? text.length : close + 2;
  }
  const run = /\s/.test(char ?? '') ? /\s+/y : /[^\s"{}[\],:/]+/y;
  run.lastIndex = at;
  return at + (run.exec(text)?.[0].length ?? 1);
}

function stringEnd(text: string, at: number): number {
  for (let end = at + 1; end < text.length; end += 1) {
    if (text[end] === '\\') end += 1;
    else if (text[end] === '"') return end + 1;
  }
  return text.length;
}

function endOf(text: string, mark: string, from: number): number {
  const end = text.indexOf(mark, from);
  return end < 0 ? text.length : end;
}
