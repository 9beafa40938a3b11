/** Plain BM25 over full files, as any search library provides it: the comparison for the offline engine. */
export interface Bm25Document {
  readonly path: string;
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
}

const K1 = 1.2;
const B = 0.75;

export function bm25Document(path: string, text: string): Bm25Document {
  const words = wordsOf(text);
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return { path, counts, length: words.length };
}

/** Returns the paths, best first. */
export function rankByBm25(
  question: string,
  documents: readonly Bm25Document[],
): readonly string[] {
  const total = documents.length;
  const average = documents.reduce((sum, { length }) => sum + length, 0) / Math.max(total, 1);
  const rarities = new Map(
    [...new Set(wordsOf(question))].map((word) => {
      const held = documents.filter(({ counts }) => counts.has(word)).length;
      return [word, Math.log(1 + (total - held + 0.5) / (held + 0.5))];
    }),
  );
  const scored = documents.map(({ path, counts, length }) => {
    const norm = K1 * (1 - B + (B * length) / average);
    let score = 0;
    for (const [word, rarity] of rarities) {
      const count = counts.get(word) ?? 0;
      score += rarity * ((count * (K1 + 1)) / (count + norm));
    }
    return { path, score };
  });
  return scored.toSorted((a, b) => b.score - a.score).map(({ path }) => path);
}

/** Splits identifiers, too: a comparison that did not would be too easy to beat. */
function wordsOf(text: string): readonly string[] {
  return text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word.length > 1);
}
