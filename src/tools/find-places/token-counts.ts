import { MAX_TOKEN_CHARS, termsOf } from '../../base/code/tokens.ts';
import { stem } from '../../base/words.ts';
import { ByteTable, finished, grown, stirred } from './byte-table.ts';
import { ownCopy, type Vocabulary } from './vocabulary.ts';

/** Then they are forgotten and learnt anew: memory stays bounded, and few are met again after so many. */
const MAX_KNOWN_TOKENS = 300_000;
const MAX_KNOWN_STEMS = 50_000;
/** Three bytes in UTF-8 are a code unit at least. */
const MAX_TOKEN_BYTES = 3 * MAX_TOKEN_CHARS;
/** Numbers that share one piece of memory. */
const ROOM = 1 << 16;
const MAX_COUNT = 65_535;
const START = 1;
const PART = 2;
/** By byte: what is no ASCII is part of a letter. */
const CLASSES = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte >= 128 || /[A-Za-z_$]/.test(String.fromCharCode(byte))) return START;
  return /\d/.test(String.fromCharCode(byte)) ? PART : 0;
});

/** What a text holds. */
export interface TokenCounts {
  /** Tokens, all together. */
  readonly length: number;
  /** Its terms by their numbers, ascending. */
  readonly terms: Uint32Array;
  /** How often each of them stands there, at most 65,535. */
  readonly counts: Uint16Array;
}

/**
 * Counts the tokens of a text in UTF-8, and of these the terms: what `scanTokens` and `termsOf` say of
 * the same text, without a string for any token but the first of its kind.
 */
export class TokenCounter {
  readonly #vocabulary: Vocabulary;
  #tokens = new ByteTable();
  /** 1: it counts in the length of a text. */
  #counted = new Uint8Array(1 << 12);
  /** Where the terms of each token end in `#terms`. */
  #ends = new Uint32Array(1 << 12);
  #terms = new Uint32Array(1 << 12);
  /** How often each token, each term stands in the text at hand; all zero between texts. */
  #ofToken = new Uint32Array(1 << 12);
  #ofTerm = new Uint32Array(1 << 12);
  /** Names are made of the same words again and again. */
  readonly #stems = new Map<string, string>();
  readonly #stemOf = (word: string): string => {
    const known = this.#stems.get(word);
    if (known !== undefined) return known;
    const found = stem(word);
    if (this.#stems.size < MAX_KNOWN_STEMS) this.#stems.set(ownCopy(word), ownCopy(found));
    return found;
  };
  #freeTerms = new Uint32Array();
  #freeCounts = new Uint16Array();
  #taken = 0;

  constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary;
  }

  count(bytes: Buffer): TokenCounts {
    if (this.#tokens.size > MAX_KNOWN_TOKENS) this.#tokens = new ByteTable();
    const found: number[] = [];
    let length = 0;
    for (const token of this.#scan(bytes)) {
      const count = this.#ofToken[token] ?? 0;
      this.#ofToken[token] = 0;
      if (this.#counted[token] === 1) length += count;
      const end = this.#ends[token] ?? 0;
      for (let at = token === 0 ? 0 : (this.#ends[token - 1] ?? 0); at < end; at += 1) {
        const term = this.#terms[at] ?? 0;
        const before = this.#ofTerm[term] ?? 0;
        if (before === 0) found.push(term);
        this.#ofTerm[term] = before + count;
      }
    }
    const { terms, counts } = this.#room(found.length);
    terms.set(found);
    terms.sort();
    for (const [index, term] of terms.entries()) {
      counts[index] = Math.min(this.#ofTerm[term] ?? 0, MAX_COUNT);
      this.#ofTerm[term] = 0;
    }
    return { length, terms, counts };
  }

  /** Many arrays of a few numbers each would cost more than what they hold: they share their memory. */
  #room(size: number): { readonly terms: Uint32Array; readonly counts: Uint16Array } {
    if (this.#taken + size > this.#freeTerms.length) {
      this.#freeTerms = new Uint32Array(Math.max(size, ROOM));
      this.#freeCounts = new Uint16Array(this.#freeTerms.length);
      this.#taken = 0;
    }
    const from = this.#taken;
    this.#taken += size;
    return {
      terms: this.#freeTerms.subarray(from, this.#taken),
      counts: this.#freeCounts.subarray(from, this.#taken),
    };
  }

  /** The tokens of a text, each once, counted in `#ofToken`. */
  #scan(bytes: Buffer): readonly number[] {
    const seen: number[] = [];
    const { length } = bytes;
    const { seed } = this.#tokens;
    let at = 0;
    while (at < length) {
      const kind = CLASSES[bytes[at] ?? 0];
      if (kind === 0) {
        at += 1;
        continue;
      }
      const start = at;
      let hash = seed;
      for (; at < length; at += 1) {
        const byte = bytes[at] ?? 0;
        if (CLASSES[byte] === 0) break;
        hash = stirred(hash, byte);
      }
      const held = at - start;
      if (kind !== START || held === 1 || held > MAX_TOKEN_BYTES) continue;
      const token = this.#numberOf(bytes, start, at, finished(hash));
      const before = this.#ofToken[token] ?? 0;
      if (before === 0) seen.push(token);
      this.#ofToken[token] = before + 1;
    }
    return seen;
  }

  #numberOf(bytes: Buffer, start: number, end: number, hash: number): number {
    const known = this.#tokens.find(bytes, start, end, hash);
    if (known !== -1) return known;
    const number = this.#tokens.add(bytes, start, end, hash);
    if (number >= this.#ends.length) {
      const size = 2 * this.#ends.length;
      this.#counted = grown(this.#counted, new Uint8Array(size));
      this.#ends = grown(this.#ends, new Uint32Array(size));
      this.#ofToken = grown(this.#ofToken, new Uint32Array(size));
    }
    const text = bytes.toString('utf8', start, end);
    const isToken = text.length > 1 && text.length <= MAX_TOKEN_CHARS;
    this.#counted[number] = isToken ? 1 : 0;
    this.#learn(number, isToken ? termsOf(text, this.#stemOf) : []);
    return number;
  }

  #learn(token: number, terms: readonly string[]): void {
    let end = token === 0 ? 0 : (this.#ends[token - 1] ?? 0);
    if (end + terms.length > this.#terms.length) {
      this.#terms = grown(this.#terms, new Uint32Array(2 * (end + terms.length)));
    }
    for (const term of terms) {
      this.#terms[end] = this.#vocabulary.add(term);
      end += 1;
    }
    this.#ends[token] = end;
    while (this.#vocabulary.size > this.#ofTerm.length) {
      this.#ofTerm = grown(this.#ofTerm, new Uint32Array(2 * this.#ofTerm.length));
    }
  }
}
