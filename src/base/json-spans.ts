/** The position of a value in a JSON text: the index of its first character, and the index after its last character. */
export interface JsonSpan {
  readonly start: number;
  readonly end: number;
}

/** A member of an object: the position of its value, its name, and the position of its name. */
export interface MemberSpan extends JsonSpan {
  readonly name: string;
  readonly nameStart: number;
}

const QUOTE = '"';

/**
 * Finds the members of the object that begins at index `at`, in order. All functions in this file require a text
 * that is valid JSON.
 */
export function memberSpans(text: string, at: number): readonly MemberSpan[] {
  const found: MemberSpan[] = [];
  let next = skipBlanks(text, at + 1);
  while (text[next] === QUOTE) {
    const nameEnd = jsonStringEnd(text, next);
    const name: unknown = JSON.parse(text.slice(next, nameEnd));
    const start = skipBlanks(text, skipBlanks(text, nameEnd) + 1);
    const end = valueEnd(text, start);
    found.push({ name: String(name), nameStart: next, start, end });
    next = afterComma(text, end);
  }
  return found;
}

/** Finds the items of the array that begins at index `at`. */
export function itemSpans(text: string, at: number): readonly JsonSpan[] {
  const found: JsonSpan[] = [];
  let start = skipBlanks(text, at + 1);
  while (start < text.length && text[start] !== ']') {
    const end = valueEnd(text, start);
    found.push({ start, end });
    start = afterComma(text, end);
  }
  return found;
}

/** Returns the index at which the outermost value begins. */
export function rootStart(text: string): number {
  return skipBlanks(text, 0);
}

function afterComma(text: string, end: number): number {
  const next = skipBlanks(text, end);
  return text[next] === ',' ? skipBlanks(text, next + 1) : next;
}

function valueEnd(text: string, start: number): number {
  const first = text[start];
  if (first === QUOTE) return jsonStringEnd(text, start);
  if (first !== '{' && first !== '[') {
    let at = start;
    while (at < text.length && !/[\s,\]}]/.test(text[at] ?? '')) at += 1;
    return at;
  }
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at];
    if (character === QUOTE) at = jsonStringEnd(text, at) - 1;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    if (depth === 0) return at + 1;
  }
  return text.length;
}

/** Finds the end of the string that begins at `start`: the index after its closing quotation mark. */
export function jsonStringEnd(text: string, start: number): number {
  for (let end = text.indexOf(QUOTE, start + 1); end !== -1; end = text.indexOf(QUOTE, end + 1)) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return end + 1;
  }
  return text.length;
}

function skipBlanks(text: string, start: number): number {
  let at = start;
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at += 1;
  return at;
}
