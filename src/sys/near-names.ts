import { opendirSync } from 'node:fs';
import { systemErrorCode } from '../base/errors.ts';

const MAX_ENTRIES = 2000;
const MAX_SUGGESTIONS = 3;
const MAX_NAME = 100;

/** Names that somebody who wrote `name` may have meant, nearest first, at most three. */
export function nearNames(name: string, candidates: readonly string[]): string[] {
  const wanted = name.toLowerCase().slice(0, MAX_NAME);
  const limit = Math.max(1, Math.floor(wanted.length / 3));
  return candidates
    .map((candidate) => ({ candidate, far: distance(wanted, candidate.toLowerCase(), limit) }))
    .filter(({ far }) => far <= limit)
    .toSorted((a, b) => a.far - b.far || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, MAX_SUGGESTIONS)
    .map(({ candidate }) => candidate);
}

/** The entries of a directory to choose from, the first 2,000; none when it cannot be read. */
export function namesIn(directory: string): string[] {
  try {
    const names: string[] = [];
    const opened = opendirSync(directory);
    try {
      for (let entry = opened.readSync(); entry !== null; entry = opened.readSync()) {
        names.push(entry.name);
        if (names.length === MAX_ENTRIES) break;
      }
    } finally {
      opened.closeSync();
    }
    return names;
  } catch (thrown) {
    // A suggestion is a courtesy: without a readable directory there is none to give.
    if (systemErrorCode(thrown) !== undefined) return [];
    throw thrown;
  }
}

/** Edit distance; more than `limit` comes back as `limit + 1`, without the work. */
function distance(a: string, b: string, limit: number): number {
  if (a === b) return 0;
  if (stem(a) === stem(b)) return 1;
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
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
  return previous[b.length] ?? limit + 1;
}

/** The name without its extension: `config.js` and `config.ts` are near. */
function stem(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot > 0 ? name.slice(0, dot) : name;
}
