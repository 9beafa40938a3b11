/**
 * Tells whether a pattern, in which `*` stands for any text, matches a text. The time is at worst proportional to the
 * product of the two lengths.
 *
 * @param options.openEnded true if unknown text may follow, so that the beginning of a match is enough
 */
export function matchesWildcard(
  pattern: string,
  text: string,
  { openEnded = false }: { readonly openEnded?: boolean } = {},
): boolean {
  let positions = new Set<number>();
  addPosition(pattern, 0, positions);
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at);
    const next = new Set<number>();
    for (const position of positions) {
      if (pattern[position] === '*') addPosition(pattern, position, next);
      else if (pattern[position] === char) addPosition(pattern, position + 1, next);
    }
    if (next.size === 0) return false;
    positions = next;
  }
  return openEnded || positions.has(pattern.length);
}

/** Adds a position in the pattern. A `*` may stand for no text, so the positions after it are added, too. */
function addPosition(pattern: string, position: number, positions: Set<number>): void {
  positions.add(position);
  for (let at = position; pattern[at] === '*'; at += 1) positions.add(at + 1);
}
