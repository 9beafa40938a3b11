import { splitIdentifier, stem } from '../word-stems.ts';

/** Longer tokens are data and no words. */
const MAX_TOKEN_CHARS = 80;
const START = 1;
const PART = 2;
/** The class of each ASCII character. Letters of other scripts all count as letters. */
const CLASSES = Uint8Array.from({ length: 128 }, (_, code) => {
  const char = String.fromCharCode(code);
  if (/[A-Za-z_$]/.test(char)) return START;
  return /\d/.test(char) ? PART : 0;
});

function classAt(text: string, index: number): number {
  const code = text.charCodeAt(index);
  return code < 128 ? (CLASSES[code] ?? 0) : START;
}

/** Returns the run of letters, digits, `_` and `$` around an index: its first index, and the one behind its last. */
export function findTokenAround(
  text: string,
  index: number,
): readonly [start: number, end: number] {
  let start = index;
  let end = index;
  while (start > 0 && classAt(text, start - 1) !== 0) start -= 1;
  while (end < text.length && classAt(text, end) !== 0) end += 1;
  return [start, end];
}

/** Tells whether a run of characters is an identifier or a word. Single letters and numbers are neither. */
export function isToken(text: string): boolean {
  return text.length > 1 && text.length <= MAX_TOKEN_CHARS && classAt(text, 0) === START;
}

/**
 * Returns the stems of an identifier's or word's parts and, where it has several, the full name run
 * together: `useCache` → us, cach, usecache.
 */
export function stemsOf(token: string): readonly string[] {
  const parts = splitIdentifier(token);
  const stems = parts.filter((part) => part.length > 1 && !/^\d+$/.test(part)).map(stem);
  return parts.length > 1 ? [...stems, parts.join('')] : stems;
}
