/**
 * The candidates in the order of their edit distance to a word, nearest first, ties as given: how
 * every message that names valid keys, flags or values sorts them. Case is ignored.
 */
export function nearestFirst(word: string, candidates: readonly string[]): readonly string[] {
  return candidates
    .map((candidate) => ({ candidate, distance: editDistance(word, candidate) }))
    .toSorted((a, b) => a.distance - b.distance)
    .map(({ candidate }) => candidate);
}

/** Longer words are compared by their beginning: a hostile name must not cost quadratic time. */
const COMPARED = 64;

function editDistance(a: string, b: string): number {
  const from = a.slice(0, COMPARED).toLowerCase();
  const to = b.slice(0, COMPARED).toLowerCase();
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
