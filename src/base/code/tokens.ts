import { splitIdentifier, stem } from '../words.ts';

/** What is longer is data and no word. */
export const MAX_TOKEN_CHARS = 80;
const START = 1;
const PART = 2;
/** By character code; letters of other scripts all count as letters. */
const CLASSES = Uint8Array.from({ length: 128 }, (_, code) => {
  const char = String.fromCharCode(code);
  if (/[A-Za-z_$]/.test(char)) return START;
  return /\d/.test(char) ? PART : 0;
});

function classOf(code: number): number {
  return code < 128 ? (CLASSES[code] ?? 0) : START;
}

/** Each identifier and each word of a text, as it stands there; single letters are none. */
export function scanTokens(text: string, visit: (token: string) => void): void {
  const { length } = text;
  let at = 0;
  while (at < length) {
    const kind = classOf(text.charCodeAt(at));
    if (kind === 0) {
      at += 1;
      continue;
    }
    const start = at;
    do at += 1;
    while (at < length && classOf(text.charCodeAt(at)) !== 0);
    const chars = at - start;
    if (kind === START && chars > 1 && chars <= MAX_TOKEN_CHARS) visit(text.slice(start, at));
  }
}

/**
 * The terms of an identifier or word: its parts as stems, and where it has several the whole name run
 * together (`useCache` → us, cach, usecache). `stemOf` may remember what `stem` said.
 */
export function termsOf(token: string, stemOf = stem): readonly string[] {
  const parts = splitIdentifier(token);
  const stems = parts
    .filter((part) => part.length > 1 && !/^\d+$/.test(part))
    .map((part) => stemOf(part));
  return parts.length > 1 ? [...stems, parts.join('')] : stems;
}
