import { matches, skipSeparators, type ParsedCalls } from './json-calls.ts';

const CALL =
  /(?:[A-Za-z_]\w{0,63}\s{0,8}=\s{0,8})?(?<print>print\(\s{0,8})?(?<name>[A-Za-z_][\w.]{0,127})\(/y;
const KEYWORD_ARGUMENTS = /\s*(?:\)|[A-Za-z_]\w{0,63}\s{0,8}=)/y;
const CLOSING_PAREN = /\s*\)/y;
const QUOTES: ReadonlySet<string> = new Set(['"', "'"]);

/**
 * Reads calls that are written as Python at `start`, one after the other, each alone or inside `print()`. Returns null if
 * there is no complete call. `args`: `keyword` if a call may only have named arguments or none, as calls of tools do.
 */
export function readPythonCalls(
  text: string,
  start: number,
  args: 'any' | 'keyword',
): ParsedCalls | null {
  const names: string[] = [];
  let end = start;
  for (let at = start; ;) {
    CALL.lastIndex = at;
    const groups = CALL.exec(text)?.groups;
    if (groups === undefined) break;
    const open = CALL.lastIndex - 1;
    if (args === 'keyword' && !matches(KEYWORD_ARGUMENTS, text, open + 1)) break;
    const close = findEndOfParentheses(text, open);
    if (close === null) break;
    end = close;
    if (groups['print'] !== undefined) {
      if (!matches(CLOSING_PAREN, text, close)) return null;
      end = CLOSING_PAREN.lastIndex;
    }
    names.push(groups['name'] ?? '');
    at = skipSeparators(text, end);
  }
  return names.length === 0 ? null : { end, names };
}

/** Returns the index after the parenthesis that closes the parenthesis at `open`; null: it is never closed. */
function findEndOfParentheses(text: string, open: number): number | null {
  let depth = 0;
  for (let at = open; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (QUOTES.has(character)) {
      const close = findEndOfString(text, at, character);
      if (close === null) return null;
      at = close;
    } else if (character === '(') {
      depth += 1;
    } else if (character === ')') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return null;
}

/** Returns the index of the last quotation mark of the string that begins at `start`; null: the string has no end. */
function findEndOfString(text: string, start: number, quote: string): number | null {
  const triple = quote.repeat(3);
  const delimiter = text.startsWith(triple, start) ? triple : quote;
  for (let at = start + delimiter.length; at < text.length; at += 1) {
    if (text.charAt(at) === '\\') at += 1;
    else if (text.startsWith(delimiter, at)) return at + delimiter.length - 1;
  }
  return null;
}
