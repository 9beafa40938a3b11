/** Files that are offered at a time. */
const MOST_OFFERED = 20;

/** The paths that fit what is typed, the best first: by name, then anywhere in the path, then letter by letter. */
export function rankFiles(paths: readonly string[], typed: string): readonly string[] {
  const query = typed.toLowerCase();
  const ranked: { readonly path: string; readonly rank: number }[] = [];
  for (const path of paths) {
    const rank = rankOf(path, query);
    if (rank !== null) ranked.push({ path, rank });
  }
  return ranked
    .toSorted((a, b) => a.rank - b.rank || a.path.length - b.path.length)
    .slice(0, MOST_OFFERED)
    .map(({ path }) => path);
}

/** The lower the better; null: it does not fit. */
function rankOf(path: string, query: string): number | null {
  if (query === '') return depthOf(path);
  const low = path.toLowerCase();
  const name = low.lastIndexOf('/') + 1;
  if (low.startsWith(query, name)) return 0;
  if (low.startsWith(query)) return 1;
  if (low.includes(query, name)) return 2;
  if (low.includes(query)) return 3;
  const spread = spreadOf(low, query);
  return spread === null ? null : 4 + spread;
}

function depthOf(path: string): number {
  return path.split('/').length;
}

/** How many letters stand between those of the query, where they come in their order. */
function spreadOf(low: string, query: string): number | null {
  let at = -1;
  let first = -1;
  for (const letter of query) {
    at = low.indexOf(letter, at + 1);
    if (at === -1) return null;
    if (first === -1) first = at;
  }
  return at - first + 1 - query.length;
}
