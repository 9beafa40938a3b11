import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Plain BM25 over whole files: what any search library gives. The yardstick, nothing more. */
export interface Bm25Index {
  rank(question: string): readonly string[];
}

const K1 = 1.2;
const B = 0.75;

export async function buildBm25(root: string, files: readonly string[]): Promise<Bm25Index> {
  const documents = new Map<
    string,
    { readonly counts: Map<string, number>; readonly length: number }
  >();
  const holders = new Map<string, number>();
  for (const file of files) {
    const words = wordsOf(await readFile(join(root, file), 'utf8'));
    const counts = new Map<string, number>();
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
    for (const word of counts.keys()) holders.set(word, (holders.get(word) ?? 0) + 1);
    documents.set(file, { counts, length: words.length });
  }
  const lengths = [...documents.values()].map((document) => document.length);
  const average = lengths.reduce((sum, length) => sum + length, 0) / Math.max(lengths.length, 1);
  const score = (file: string, words: ReadonlySet<string>): number => {
    const document = documents.get(file);
    if (document === undefined) return 0;
    let total = 0;
    for (const word of words) {
      const count = document.counts.get(word) ?? 0;
      const held = holders.get(word) ?? 0;
      const rarity = Math.log(1 + (documents.size - held + 0.5) / (held + 0.5));
      const norm = K1 * (1 - B + (B * document.length) / average);
      total += rarity * ((count * (K1 + 1)) / (count + norm));
    }
    return total;
  };
  return {
    rank(question) {
      const words = new Set(wordsOf(question));
      const scored = files.map((file) => ({ file, score: score(file, words) }));
      return scored.toSorted((a, b) => b.score - a.score).map(({ file }) => file);
    },
  };
}

/** Identifiers split as well: a baseline that did not would be too easy to beat. */
function wordsOf(text: string): readonly string[] {
  return text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word.length > 1);
}
