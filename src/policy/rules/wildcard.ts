/**
 * Whether a pattern, in which `*` stands for any text, matches a text; with `openEnded`, whether it
 * matches the text with something more or nothing after it. Takes time in proportion to the product of
 * the two lengths at worst, whatever they hold.
 */
export function matchesWildcard(
  pattern: string,
  text: string,
  { openEnded = false }: { readonly openEnded?: boolean } = {},
): boolean {
  let places = new Set<number>();
  enter(pattern, 0, places);
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at);
    const next = new Set<number>();
    for (const place of places) {
      if (pattern[place] === '*') enter(pattern, place, next);
      else if (pattern[place] === char) enter(pattern, place + 1, next);
    }
    if (next.size === 0) return false;
    places = next;
  }
  return openEnded || places.has(pattern.length);
}

/** A star may stand for nothing, so that whoever is at it is at what follows, too. */
function enter(pattern: string, place: number, places: Set<number>): void {
  places.add(place);
  for (let at = place; pattern[at] === '*'; at += 1) places.add(at + 1);
}
