const MAX_SUGGESTIONS = 3;
/**
 * The maximum number of characters that are compared. The comparison takes quadratic time, and names may be hostile.
 */
const MAX_COMPARED_CHARS = 100;

/**
 * Sorts the candidates by their similarity to a word, for messages that list valid values. Equally similar
 * candidates keep their order. A common beginning counts: `tasks` is nearer to `task_tool` than to `keys`.
 */
export function sortByNearness(word: string, candidates: readonly string[]): readonly string[] {
  return candidates
    .map((candidate) => ({
      candidate,
      distance: prefixDistance(normalizeName(word), normalizeName(candidate)),
    }))
    .toSorted((a, b) => a.distance - b.distance)
    .map(({ candidate }) => candidate);
}

/**
 * Returns at most three names that the writer of `name` may have meant, nearest first. A name that differs only
 * by its extension is near.
 */
export function suggestNames(name: string, candidates: readonly string[]): string[] {
  const wanted = normalizeName(name);
  const limit = Math.max(1, Math.floor(wanted.length / 3));
  return candidates
    .map((candidate) => ({ candidate, distance: nameDistance(wanted, normalizeName(candidate)) }))
    .filter(({ distance }) => distance <= limit)
    .toSorted((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, MAX_SUGGESTIONS)
    .map(({ candidate }) => candidate);
}

function prefixDistance(a: string, b: string): number {
  let shared = 0;
  while (shared < a.length && a[shared] === b[shared]) shared += 1;
  return editDistance(a, b) - shared;
}

/** Removes differences of case, and of characters that look the same. */
function normalizeName(name: string): string {
  return name.slice(0, MAX_COMPARED_CHARS).normalize('NFKC').toLowerCase();
}

function nameDistance(a: string, b: string): number {
  return a !== b && stem(a) === stem(b) ? 1 : editDistance(a, b);
}

/** Counts the changes that make `b` of `a`: a character more, less or other, or two neighbours that are exchanged. */
function editDistance(a: string, b: string): number {
  let beforePrevious: readonly number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const substitution = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const deletion = (previous[column] ?? 0) + 1;
      const insertion = (current[column - 1] ?? 0) + 1;
      const isExchanged = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const exchange = isExchanged ? (beforePrevious[column - 2] ?? Infinity) + 1 : Infinity;
      current.push(Math.min(substitution, deletion, insertion, exchange));
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[b.length] ?? 0;
}

/** Returns a name without its extension: `config.js` and `config.ts` count as near. */
function stem(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot > 0 ? name.slice(0, dot) : name;
}
