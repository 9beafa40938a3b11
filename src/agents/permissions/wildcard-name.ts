/** Longer patterns name no permission. */
const MAX_PATTERN = 64;

/** Whether a pattern, in which `*` stands for any text and `?` for a character, matches a short name. */
export function matchesName(pattern: string, name: string): boolean {
  if (pattern === name) return true;
  const first = pattern.search(/[*?]/);
  if (first === -1 || pattern.length > MAX_PATTERN) return false;
  if (!name.startsWith(pattern.slice(0, first))) return false;
  let places = withStars(pattern, [0]);
  for (const char of name) {
    const next = [...places].flatMap((place) => {
      const wanted = pattern[place];
      if (wanted === '*') return [place];
      return wanted === char || wanted === '?' ? [place + 1] : [];
    });
    places = withStars(pattern, next);
  }
  return places.has(pattern.length);
}

/** A star may stand for nothing, so that whoever is at it is at what follows, too. */
function withStars(pattern: string, at: readonly number[]): ReadonlySet<number> {
  const places = new Set(at);
  for (const place of places) if (pattern[place] === '*') places.add(place + 1);
  return places;
}
