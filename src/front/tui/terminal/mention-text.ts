import { sanitizeLine } from '../../../base/terminal-text.ts';

/** The maximum number of files that are offered at a time. Each letter that is typed narrows them down. */
const MAX_OFFERED = 1_000;

/**
 * Returns the paths that match the typed text, the best match first: those whose file name or path starts with the
 * text, then those that contain it, then those that contain its letters in this order.
 */
export function matchFiles(paths: readonly string[], typed: string): readonly string[] {
  const query = typed.toLowerCase();
  return paths
    .map((path) => ({ path, rank: rankPath(path, query) }))
    .filter(({ rank }) => rank !== Infinity)
    .toSorted((a, b) => a.rank - b.rank || a.path.length - b.path.length)
    .slice(0, MAX_OFFERED)
    .map(({ path }) => path);
}

/** Returns the rank of a path. A lower rank is a better match; the rank is infinite if the path does not match. */
function rankPath(path: string, query: string): number {
  if (query === '') return path.split('/').length;
  const lower = path.toLowerCase();
  const name = lower.lastIndexOf('/') + 1;
  if (lower.startsWith(query, name)) return 0;
  if (lower.startsWith(query)) return 1;
  if (lower.includes(query, name)) return 2;
  if (lower.includes(query)) return 3;
  return 4 + countLettersBetween(lower, query);
}

/** Counts the letters between those of the query; infinite if the text does not contain the letters in this order. */
function countLettersBetween(text: string, query: string): number {
  let at = -1;
  let first = -1;
  for (const letter of query) {
    at = text.indexOf(letter, at + 1);
    if (at === -1) return Infinity;
    if (first === -1) first = at;
  }
  return at - first + 1 - query.length;
}

/** Whether a message can contain a path unchanged: the path ends no quote and controls no terminal. */
export function isPlainText(path: string): boolean {
  return !path.includes('"') && sanitizeLine(path) === path;
}

/** Formats the mention of a file in a message: `@src/a.ts`, `@"my notes.md"`. */
export function formatMention(path: string): string {
  return /^[\w./\\:~+,=#%()[\]-]*[\w/\\]$/.test(path) ? `@${path}` : `@"${path}"`;
}
