import { fileKind, type FileKind } from '../../base/code/file-kind.ts';
import { languageOf, type Language } from '../../base/code/language.ts';
import type { Tokeniser } from '../../base/code/tokens.ts';
import { importsOf } from './imports.ts';

/** What is kept of a file, whatever is asked later. */
export interface FileFacts {
  /** Its terms by their numbers, ascending. */
  readonly terms: Uint32Array;
  /** How often each of them stands there, at most 65,535. */
  readonly counts: Uint16Array;
  /** Tokens, all together. */
  readonly length: number;
  /** What it imports, as it says so. */
  readonly imports: readonly string[];
}

/** Of a file that is not looked into: too large, binary, not to be opened. */
export const NO_FACTS: FileFacts = {
  terms: new Uint32Array(),
  counts: new Uint16Array(),
  length: 0,
  imports: [],
};

export interface CorpusFile extends FileFacts {
  /** Relative to the searched directory, with `/`. */
  readonly path: string;
  readonly kind: FileKind;
  readonly language: Language | null;
}

/** All terms, each with a number. */
export class Vocabulary {
  readonly #numbers = new Map<string, number>();

  find(term: string): number | undefined {
    return this.#numbers.get(term);
  }

  number(term: string): number {
    const known = this.#numbers.get(term);
    if (known !== undefined) return known;
    const added = this.#numbers.size;
    this.#numbers.set(term, added);
    return added;
  }

  /** In the order of their numbers. */
  terms(): Iterable<string> {
    return this.#numbers.keys();
  }
}

/** What one file holds. Pure but for new terms in the vocabulary. */
export function factsOf(
  { path, text }: { readonly path: string; readonly text: string },
  { vocabulary, tokeniser }: { readonly vocabulary: Vocabulary; readonly tokeniser: Tokeniser },
): FileFacts {
  const found = new Map<number, number>();
  let length = 0;
  tokeniser.scan(text, (terms) => {
    length += 1;
    for (const term of terms) {
      const number = vocabulary.number(term);
      found.set(number, (found.get(number) ?? 0) + 1);
    }
  });
  const terms = Uint32Array.from(found.keys()).sort();
  const counts = Uint16Array.from(terms, (term) => Math.min(found.get(term) ?? 0, 65_535));
  return { terms, counts, length, imports: importsOf(path, text) };
}

export function corpusFile(path: string, facts: FileFacts): CorpusFile {
  return { ...facts, path, kind: fileKind(path), language: languageOf(path) };
}

/** How often a file holds a term. */
export function countIn({ terms, counts }: FileFacts, term: number): number {
  let low = 0;
  let high = terms.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = terms[middle] ?? 0;
    if (found === term) return counts[middle] ?? 0;
    if (found < term) low = middle + 1;
    else high = middle - 1;
  }
  return 0;
}
