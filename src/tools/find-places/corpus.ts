import { fileKind, type FileKind } from '../../base/code/file-kind.ts';
import { languageOf, type Language } from '../../base/code/language.ts';
import { scanTokens } from '../../base/code/tokens.ts';
import { importsOf } from './imports.ts';
import type { Vocabulary } from './vocabulary.ts';

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

/** Of data, texts and generated files the beginning tells enough. */
const MAX_OTHER_CHARS = 16_384;

/** Finds what files hold. New terms go into the vocabulary. */
export class FactFinder {
  private readonly vocabulary: Vocabulary;
  /** How often each term has been seen in the file at hand; all zero between files. */
  private seen = new Uint32Array(1 << 16);

  constructor(vocabulary: Vocabulary) {
    this.vocabulary = vocabulary;
  }

  factsOf({ path, text }: { readonly path: string; readonly text: string }): FileFacts {
    const found: number[] = [];
    let length = 0;
    const read = fileKind(path) === 'source' ? text : text.slice(0, MAX_OTHER_CHARS);
    scanTokens(read, (token) => {
      length += 1;
      for (const term of this.vocabulary.numbersOf(token)) {
        if (term >= this.seen.length) this.grow();
        const before = this.seen[term] ?? 0;
        if (before === 0) found.push(term);
        this.seen[term] = before + 1;
      }
    });
    const terms = Uint32Array.from(found).toSorted();
    const counts = Uint16Array.from(terms, (term) => Math.min(this.seen[term] ?? 0, 65_535));
    for (const term of terms) this.seen[term] = 0;
    return { terms, counts, length, imports: importsOf(path, text) };
  }

  private grow(): void {
    const larger = new Uint32Array(2 * Math.max(this.seen.length, this.vocabulary.size));
    larger.set(this.seen);
    this.seen = larger;
  }
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
