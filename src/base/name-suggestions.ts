const MOST_SUGGESTIONS = 3;
/** The number of characters that are compared, because comparing hostile names must not take quadratic time. */
const COMPARED = 100;

/**
 * Sorts the candidates by their nearness to a word, and keeps the order of equally near ones: for messages that
 * list valid values. A common beginning counts: `tasks` is nearer to `task_tool` than to `keys`.
 */
export function sortByNearness(word: string, candidates: readonly string[]): readonly string[] {
  return candidates
    .map((candidate) => ({ candidate, far: distance(folded(word), folded(candidate)) }))
    .toSorted((a, b) => a.far - b.far)
    .map(({ candidate }) => candidate);
}

/**
 * Returns at most three names that the writer of `name` may have meant, nearest first. A name that differs only
 * by its extension is near.
 */
export function suggestNames(name: string, candidates: readonly string[]): string[] {
  const wanted = folded(name);
  const limit = Math.max(1, Math.floor(wanted.length / 3));
  return candidates
    .map((candidate) => ({ candidate, far: nameDistance(wanted, folded(candidate)) }))
    .filter(({ far }) => far <= limit)
    .toSorted((a, b) => a.far - b.far || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, MOST_SUGGESTIONS)
    .map(({ candidate }) => candidate);
}

function distance(a: string, b: string): number {
  let shared = 0;
  while (shared < a.length && a[shared] === b[shared]) shared += 1;
  return editDistance(a, b) - shared;
}

/** Removes differences of case, and of characters that look the same. */
function folded(name: string): string {
  return name.slice(0, COMPARED).normalize('NFKC').toLowerCase();
}

function nameDistance(a: string, b: string): number {
  return a !== b && stem(a) === stem(b) ? 1 : editDistance(a, b);
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const substitution = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const deletion = (previous[column] ?? 0) + 1;
      const insertion = (current[column - 1] ?? 0) + 1;
      current.push(Math.min(substitution, deletion, insertion));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}

/** The name without its extension: `config.js` and `config.ts` are near. */
function stem(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot > 0 ? name.slice(0, dot) : name;
}
