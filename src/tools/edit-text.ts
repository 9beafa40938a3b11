import { plural, truncate } from '../base/text.ts';
import { withLineEnd } from './file-text.ts';

/** One replacement of an exact text. */
export interface TextEdit {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean | undefined;
  /** How often the text must stand in the file; each of them is replaced. */
  readonly expected_replacements?: number | undefined;
}

export type EditResult =
  /** `lines`: where the replaced texts began, in the text before this edit, from 1. */
  | { readonly ok: true; readonly text: string; readonly lines: readonly number[] }
  | { readonly ok: false; readonly problem: string };

const MAX_LINES_NAMED = 10;
const MAX_NEAR_MISSES = 3;
const MAX_SHOWN_LINE = 120;

/**
 * Replace an exact text that stands once in `text`, or everywhere with `replace_all`. A line end in
 * it matches those of the file, whichever they are; new lines get `lineEnd`.
 */
export function applyEdit(text: string, edit: TextEdit, lineEnd: '\n' | '\r\n'): EditResult {
  const refused = unusable(edit);
  if (refused !== undefined) return { ok: false, problem: refused };
  const matches = [...text.matchAll(exactPattern(edit.old_string))];
  if (matches.length === 0) return { ok: false, problem: notFound(text, edit.old_string) };
  const lines = lineNumbers(
    text,
    matches.map((match) => match.index),
  );
  const { expected_replacements: expected } = edit;
  if (expected !== undefined && expected !== matches.length) {
    return { ok: false, problem: notAsExpected(lines, expected) };
  }
  if (matches.length > 1 && edit.replace_all !== true && expected === undefined) {
    return { ok: false, problem: notUnique(lines) };
  }
  const replacement = withLineEnd(edit.new_string, lineEnd);
  let result = '';
  let end = 0;
  for (const match of matches) {
    result += text.slice(end, match.index) + replacement;
    end = match.index + match[0].length;
  }
  return { ok: true, text: result + text.slice(end), lines };
}

function unusable({ old_string: before, new_string: after }: TextEdit): string | undefined {
  if (before === '') return 'old_string is empty: to make or fill a file use Write.';
  if (before === after) return 'old_string and new_string are the same: nothing to change.';
  return undefined;
}

function exactPattern(literal: string): RegExp {
  const escaped = literal.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
  return new RegExp(escaped.replaceAll(/\r?\n/g, String.raw`\r?\n`), 'g');
}

/** Line numbers, from 1, of rising positions in the text. */
function lineNumbers(text: string, positions: readonly number[]): number[] {
  let line = 1;
  let at = 0;
  return positions.map((position) => {
    for (let next = text.indexOf('\n', at); next !== -1 && next < position;) {
      line += 1;
      at = next + 1;
      next = text.indexOf('\n', at);
    }
    return line;
  });
}

function notUnique(lines: readonly number[]): string {
  return `old_string stands ${lines.length} times, at ${namedLines(lines)}: add lines around it until it is unique, or set replace_all.`;
}

function notAsExpected(lines: readonly number[], expected: number): string {
  const found = plural(lines.length, 'time');
  return `old_string stands ${found}, at ${namedLines(lines)}, and expected_replacements is ${expected}.`;
}

/** `line 3`, `lines 3, 8, 12`, at most ten of them. */
export function namedLines(lines: readonly number[]): string {
  const shown = lines.slice(0, MAX_LINES_NAMED).join(', ');
  const more = lines.length > MAX_LINES_NAMED ? ' and more' : '';
  return `${lines.length === 1 ? 'line' : 'lines'} ${shown}${more}`;
}

function notFound(text: string, wanted: string): string {
  const looseMatches = matchesWithoutSpace(text, wanted);
  if (looseMatches.length > 0) {
    return `old_string was not found; ${namedLines(looseMatches)} would match but for white space: copy it exactly as Read shows it, after the tab.`;
  }
  if (/^\s*\d+\t/.test(wanted)) {
    return 'old_string was not found: it begins with a line number of Read. Leave number and tab out.';
  }
  const near = nearLines(text, wanted);
  if (near.length === 0) return 'old_string was not found, nor any line like its first one.';
  return `old_string was not found as a whole. Its first line is like:\n${near.join('\n')}`;
}

/** Where the text would match if white space at both ends of the lines, and its amount, didn't count. */
function matchesWithoutSpace(text: string, wanted: string): number[] {
  const lines = text.split('\n').map(squeeze);
  const block = wanted.split('\n').map(squeeze);
  while (block.at(-1) === '') block.pop();
  while (block[0] === '') block.shift();
  if (block.length === 0) return [];
  return lines.flatMap((_, start) =>
    block.every((line, index) => lines[start + index] === line) ? [start + 1] : [],
  );
}

function squeeze(line: string): string {
  return line.trim().replaceAll(/\s+/g, ' ');
}

function nearLines(text: string, wanted: string): string[] {
  const first = wanted
    .split('\n')
    .map(squeeze)
    .find((line) => line !== '');
  if (first === undefined) return [];
  const near: string[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    const squeezed = squeeze(line);
    if (squeezed === '' || !(squeezed.includes(first) || isLongPart(first, squeezed))) continue;
    near.push(`${index + 1}\t${truncate(line.trimEnd(), MAX_SHOWN_LINE)}`);
    if (near.length === MAX_NEAR_MISSES) break;
  }
  return near;
}

/** Whether `part` is most of `whole`: a brace alone is like nothing. */
function isLongPart(whole: string, part: string): boolean {
  return part.length * 2 > whole.length && whole.includes(part);
}
