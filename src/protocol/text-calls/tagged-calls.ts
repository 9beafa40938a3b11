import { lazy } from '../../base/lazy.ts';
import { matches, readJsonObject } from './json-calls.ts';

/** The tags of a call whose arguments each have a tag of their own, as sources of regular expressions. */
export interface ArgumentTags {
  /** The tag before the value of an argument. */
  readonly argument: string;
  readonly endArgument: string;
  /** The tag that ends the call. */
  readonly end: string;
}

/**
 * Returns a function that reads the arguments of a call and the tag that ends it, and gives the index behind that
 * tag, or null if the call is not complete. A value may hold such tags itself: it ends with a tag that another
 * argument, or the end of the call, follows.
 */
export function createArgumentReader({ argument, endArgument, end }: ArgumentTags) {
  const patterns = lazy(() => ({
    argumentTag: new RegExp(`\\s*${argument}`, 'y'),
    endTag: new RegExp(`\\s*${end}`, 'y'),
    endOfValue: new RegExp(`${endArgument}(?=\\s*(?:${argument}|${end}))`, 'g'),
    // Models forget the tag that ends a value.
    nextTag: new RegExp(`(?=${argument}|${end})`, 'g'),
  }));

  return (text: string, start: number): number | null => {
    const { argumentTag, endTag, endOfValue, nextTag } = patterns();
    let at = skipSpace(text, start);
    const json = readJsonObject(text, at);
    if (json !== null) at = json.end;
    // Where no such end is found from here, none is found from further on either.
    let hasEnds = true;
    while (matches(argumentTag, text, at)) {
      const value = argumentTag.lastIndex;
      const close: number | null = hasEnds ? search(endOfValue, text, value) : null;
      hasEnds &&= close !== null;
      const next = close ?? search(nextTag, text, value);
      if (next === null) return null;
      at = next;
    }
    return matches(endTag, text, at) ? endTag.lastIndex : null;
  };
}

function search(expression: RegExp, text: string, from: number): number | null {
  expression.lastIndex = from;
  const found = expression.exec(text);
  return found === null ? null : found.index + found[0].length;
}

const SPACE = /\s*/y;

function skipSpace(text: string, at: number): number {
  return matches(SPACE, text, at) ? SPACE.lastIndex : at;
}
