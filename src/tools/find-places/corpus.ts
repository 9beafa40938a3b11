import { fileKind, type FileKind } from '../../base/code/file-kind.ts';
import { languageOf, type Language } from '../../base/code/language.ts';
import { importsOf } from './imports.ts';
import { TokenCounter, type TokenCounts } from './token-counts.ts';
import { ownCopy, type Vocabulary } from './vocabulary.ts';

/** What is kept of a file, whatever is asked later. */
export interface FileFacts extends TokenCounts {
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
const MAX_OTHER_BYTES = 16_384;

/** Finds what files hold. New terms go into the vocabulary. */
export class FactFinder {
  readonly #counter: TokenCounter;
  /** Files import the same things by the hundred: each name is kept once. */
  readonly #imports = new Map<string, string>();

  constructor(vocabulary: Vocabulary) {
    this.#counter = new TokenCounter(vocabulary);
  }

  /** `bytes`: its text in UTF-8, of which nothing is kept. */
  factsOf({ path, bytes }: { readonly path: string; readonly bytes: Buffer }): FileFacts {
    const read = fileKind(path) === 'source' ? bytes : bytes.subarray(0, MAX_OTHER_BYTES);
    return {
      ...this.#counter.count(read),
      imports: importsOf(path, bytes).map((name) => this.#shared(name)),
    };
  }

  #shared(name: string): string {
    const known = this.#imports.get(name);
    if (known !== undefined) return known;
    const own = ownCopy(name);
    this.#imports.set(own, own);
    return own;
  }
}

export function corpusFile(
  path: string,
  { terms, counts, length, imports }: FileFacts,
): CorpusFile {
  const [kind, language] = [fileKind(path), languageOf(path)];
  return { path, kind, language, terms, counts, length, imports };
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
