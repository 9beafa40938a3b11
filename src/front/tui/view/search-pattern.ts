/** Of what is looked for, in UTF-16 units. */
const MOST = 200;

/**
 * What finds a text: case does not matter, and where it has white space, any will do, the end of a line,
 * too. Null: there is nothing to look for.
 */
export function searchPattern(typed: string): RegExp | null {
  const words = typed
    .trim()
    .slice(0, MOST)
    .split(/\s+/u)
    .filter((word) => word !== '');
  if (words.length === 0) return null;
  return new RegExp(words.map(escaped).join(String.raw`\s+`), 'giu');
}

/** How often it stands there. */
export function countMatches(pattern: RegExp, text: string): number {
  return [...text.matchAll(pattern)].length;
}

function escaped(word: string): string {
  return word.replaceAll(/[$()*+./?[\\\]^{|}]/g, String.raw`\$&`);
}
