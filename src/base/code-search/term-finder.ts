import { splitIdentifier, stem } from '../word-stems.ts';
import type { QueryTerm } from './query.ts';

/** The maximum number of tokens for which the terms are cached. */
const MAX_KNOWN_TOKENS = 100_000;
const NO_TERMS: readonly number[] = [];

/**
 * Finds the terms of a query in texts. A regular expression finds the positions of all possible matches, at hundreds
 * of megabytes a second. Only the tokens at these positions are split into words and compared by their stems.
 */
export class TermFinder {
  readonly #pattern: RegExp | null;
  /** The indexes of the terms that contain each stem. */
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
      // A pair needs no alternative of its own: each of its two words is a term too.
      if (kind === 'pair') continue;
      for (const each of stems) alternatives.add(each);
      if (kind === 'name') alternatives.add(splitIdentifier(label).join('_?'));
    }
    this.#pattern = alternatives.size === 0 ? null : new RegExp([...alternatives].join('|'), 'gi');
  }

  /**
   * A regular expression that matches wherever a term may occur, to be used without regard to case; null when there
   * are no terms. It means the same in ripgrep and in JavaScript.
   */
  get pattern(): string | null {
    return this.#pattern?.source ?? null;
  }

  /** Calls `onTerms` for each token that contains a term, with the indexes of the terms in the token. */
  visit(text: string, onTerms: (terms: readonly number[]) => void): void {
    const pattern = this.#pattern;
    if (pattern === null) return;
    pattern.lastIndex = 0;
    for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
      const [start, end] = findTokenAround(text, match.index);
      const terms = this.#termsIn(text.slice(start, end));
      if (terms.length > 0) onTerms(terms);
      pattern.lastIndex = end;
    }
  }

  /** Counts the occurrences of each term in a text. Returns null when the text contains no term. */
  count(text: string): Uint16Array | null {
    let counts: Uint16Array | null = null;
    this.visit(text, (terms) => {
      counts ??= new Uint16Array(this.#size);
      for (const term of terms) counts[term] = Math.min(65_535, (counts[term] ?? 0) + 1);
    });
    return counts;
  }

  /** Returns the indexes of the terms in a token. The index of a term is repeated for each occurrence of the term. */
  #termsIn(token: string): readonly number[] {
    if (!isToken(token)) return NO_TERMS;
    const known = this.#termsByToken.get(token);
    if (known !== undefined) return known;
    const terms = listStems(token).flatMap((each) => this.#termsByStem.get(each) ?? NO_TERMS);
    // The token is copied because a slice would keep the full text in memory.
    if (this.#termsByToken.size < MAX_KNOWN_TOKENS) this.#termsByToken.set(copyText(token), terms);
    return terms;
  }
}

function copyText(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}

/** The maximum length of a token. A longer run of characters is data and not a word. */
const MAX_TOKEN_CHARS = 80;
/** The class of characters with which a token can start: letters, `_` and `$`. They can also continue a token. */
const TOKEN_START = 1;
/** The class of characters that can only continue a token: digits. */
const TOKEN_PART = 2;
/** The class of each ASCII character; 0 for characters outside of tokens. */
const CLASSES = Uint8Array.from({ length: 128 }, (_, code) => {
  const char = String.fromCharCode(code);
  if (/[A-Za-z_$]/.test(char)) return TOKEN_START;
  return /\d/.test(char) ? TOKEN_PART : 0;
});

/** Returns the class of a character. All characters that are not ASCII count as letters. */
function classAt(text: string, index: number): number {
  const code = text.charCodeAt(index);
  return code < 128 ? (CLASSES[code] ?? 0) : TOKEN_START;
}

/**
 * Returns the run of letters, digits, `_` and `$` around an index: the index of its first character, and the index
 * after its last character.
 */
function findTokenAround(text: string, index: number): readonly [start: number, end: number] {
  let start = index;
  let end = index;
  while (start > 0 && classAt(text, start - 1) !== 0) start -= 1;
  while (end < text.length && classAt(text, end) !== 0) end += 1;
  return [start, end];
}

/** Tells whether a run of characters counts as an identifier or a word. Single letters and numbers do not count. */
export function isToken(text: string): boolean {
  return text.length > 1 && text.length <= MAX_TOKEN_CHARS && classAt(text, 0) === TOKEN_START;
}

/**
 * Returns the stems of the parts of an identifier or word. If there are several parts, the parts joined in lower
 * case are added: `useCache` → us, cach, usecache.
 */
export function listStems(token: string): readonly string[] {
  const parts = splitIdentifier(token);
  const stems = parts.filter((part) => part.length > 1 && !/^\d+$/.test(part)).map(stem);
  return parts.length > 1 ? [...stems, parts.join('')] : stems;
}
