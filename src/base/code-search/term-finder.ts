import { splitIdentifier, stem } from '../word-stems.ts';
import type { QueryTerm } from './query.ts';

/** The maximum number of tokens whose terms are remembered. */
const MAX_KNOWN_TOKENS = 100_000;
const NO_TERMS: readonly number[] = [];

/**
 * Finds the terms of a query in texts. A regular expression finds every place where one of the stems may
 * stand, at hundreds of megabytes a second; only the tokens there are taken apart.
 */
export class TermFinder {
  readonly #pattern: RegExp | null;
  /** The indexes of the terms that have a stem. */
  readonly #termsByStem = new Map<string, readonly number[]>();
  readonly #termsByToken = new Map<string, readonly number[]>();
  readonly #size: number;

  constructor(terms: readonly QueryTerm[]) {
    this.#size = terms.length;
    const alternatives = new Set<string>();
    for (const [index, { kind, label, stems }] of terms.entries()) {
      for (const each of stems) {
        this.#termsByStem.set(each, [...(this.#termsByStem.get(each) ?? []), index]);
      }
      // Two neighboring words are found by either of them.
      if (kind === 'pair') continue;
      for (const each of stems) alternatives.add(each);
      if (kind === 'name') alternatives.add(splitIdentifier(label).join('_?'));
    }
    this.#pattern = alternatives.size === 0 ? null : new RegExp([...alternatives].join('|'), 'gi');
  }

  /**
   * The pattern for the places where a term may stand, to be matched without case; null when there are no
   * terms. ripgrep reads it alike.
   */
  get pattern(): string | null {
    return this.#pattern?.source ?? null;
  }

  /** Calls `visit` with the indexes of the terms in each token that has any. */
  visit(text: string, visit: (terms: readonly number[]) => void): void {
    const pattern = this.#pattern;
    if (pattern === null) return;
    pattern.lastIndex = 0;
    for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
      const [start, end] = findTokenAround(text, match.index);
      const terms = this.#termsIn(text.slice(start, end));
      if (terms.length > 0) visit(terms);
      pattern.lastIndex = end;
    }
  }

  /** Counts each term in a text; null when it has none. */
  count(text: string): Uint16Array | null {
    let counts: Uint16Array | null = null;
    this.visit(text, (terms) => {
      counts ??= new Uint16Array(this.#size);
      for (const term of terms) counts[term] = Math.min(65_535, (counts[term] ?? 0) + 1);
    });
    return counts;
  }

  /** Returns the indexes of the terms in a token, once for each time that the token has the term. */
  #termsIn(token: string): readonly number[] {
    if (!isToken(token)) return NO_TERMS;
    const known = this.#termsByToken.get(token);
    if (known !== undefined) return known;
    const terms = stemsOf(token).flatMap((each) => this.#termsByStem.get(each) ?? NO_TERMS);
    // A slice of a text would keep all of that text in memory.
    if (this.#termsByToken.size < MAX_KNOWN_TOKENS) this.#termsByToken.set(ownCopy(token), terms);
    return terms;
  }
}

function ownCopy(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}

/** The maximum length of a token. Longer ones are data and not words. */
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
function findTokenAround(text: string, index: number): readonly [start: number, end: number] {
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
