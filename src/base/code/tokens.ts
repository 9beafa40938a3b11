import { splitIdentifier, stem } from '../words.ts';

/** Letters of other scripts count as letters: which of them are none does not matter here. */
const TOKEN = /[A-Za-z_$\u0080-\uFFFF][\w$\u0080-\uFFFF]*/g;
/** What is longer is data and no word. */
const MAX_TOKEN_CHARS = 80;
const MAX_KNOWN_TOKENS = 200_000;

/**
 * The terms of a text: for each identifier or word its parts as stems, and a name of several parts run
 * together as well (`useCache` → us, cach, usecache). One tokeniser is for many texts: names repeat.
 */
export class Tokeniser {
  readonly #known = new Map<string, readonly string[]>();

  /** `visit` is told the terms of each token in turn. */
  scan(text: string, visit: (terms: readonly string[]) => void): void {
    TOKEN.lastIndex = 0;
    for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
      if (match[0].length <= MAX_TOKEN_CHARS) visit(this.#termsOf(match[0]));
    }
  }

  terms(text: string): readonly string[] {
    const all: string[] = [];
    this.scan(text, (terms) => all.push(...terms));
    return all;
  }

  #termsOf(token: string): readonly string[] {
    const known = this.#known.get(token);
    if (known !== undefined) return known;
    const terms = termsOf(token);
    if (this.#known.size < MAX_KNOWN_TOKENS) this.#known.set(token, terms);
    return terms;
  }
}

function termsOf(token: string): readonly string[] {
  const parts = splitIdentifier(token);
  const stems = parts.filter((part) => part.length > 1 && !/^\d+$/.test(part)).map(stem);
  return parts.length > 1 ? [...stems, parts.join('')] : stems;
}
