import { plural } from '../../../base/text.ts';

/** Cuts a text to its first `maxLength` UTF-16 units and splits no surrogate pair. Returns a copy, so that the full text can be freed. */
export function textStart(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const end = isHighHalf(text.charCodeAt(maxLength - 1)) ? maxLength - 1 : maxLength;
  return copied(text.slice(0, end));
}

/** Cuts a text to its last `maxLength` UTF-16 units, as `textStart` does. */
export function textEnd(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const start = text.length - maxLength;
  return copied(text.slice(isHighHalf(text.charCodeAt(start - 1)) ? start + 1 : start));
}

/** Counts the lines of a text. A newline at its end begins no line. */
export function linesIn(text: string): number {
  if (text === '') return 0;
  const lines = text.split('\n').length;
  return text.endsWith('\n') ? lines - 1 : lines;
}

/** Copies a slice of a text. A slice itself would keep the full text in memory. */
export function copied(slice: string): string {
  return Buffer.from(slice, 'utf16le').toString('utf16le');
}

function isHighHalf(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

/** The maximum length of a text of a conversation that is kept in memory. */
const MAX_TEXT = 64 * 1024;

/** Cuts a long text, with a note about the characters that are only in the log. */
export function cutWithNote(text: string): string {
  const beginning = textStart(text, MAX_TEXT);
  const cut = text.length - beginning.length;
  return cut === 0 ? text : `${beginning}\n\n… ${plural(cut, 'character')} more, in the log`;
}
