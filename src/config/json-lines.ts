/** Strings, punctuation, other scalars and line ends: all there is in JSON but blanks. */
const TOKENS = /"(?:\\.|[^"\\])*"|[{}[\],:\n]|[^\s"{}[\],:]+/g;

/** Deeper values have no line of their own: no setting lies there, and a path is not for free. */
const MAX_DEPTH = 4;

interface Level {
  readonly isArray: boolean;
  /** Where in the array, or under which key. */
  at: number | string;
  awaitsKey: boolean;
}

/** The line (from 1) of each value of a *valid* JSON text, by its path as `pathKey` writes it. */
export function findJsonLines(text: string): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  const levels: Level[] = [];
  let line = 1;
  const note = (): void => {
    if (levels.length <= MAX_DEPTH) lines.set(pathKey(levels.map(({ at }) => at)), line);
  };
  for (const [token] of text.matchAll(TOKENS)) {
    const level = levels.at(-1);
    switch (token) {
      case '\n':
        line += 1;
        break;
      case '{':
      case '[':
        note();
        levels.push({ isArray: token === '[', at: 0, awaitsKey: token === '{' });
        break;
      case '}':
      case ']':
        levels.pop();
        break;
      case ':':
        break;
      case ',':
        if (level?.isArray === true) level.at = Number(level.at) + 1;
        else if (level !== undefined) level.awaitsKey = true;
        break;
      default:
        if (level?.awaitsKey === true) {
          level.at = String(JSON.parse(token));
          level.awaitsKey = false;
        } else note();
    }
  }
  return lines;
}

/** A path that cannot be mistaken for another by a name with a separator in it. */
export function pathKey(path: readonly (string | number)[]): string {
  return JSON.stringify(path);
}
