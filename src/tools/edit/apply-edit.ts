import { plural } from '../../base/text.ts';
import { withLineEnd } from '../shared/file-text.ts';
import { namedLines } from '../shared/named-lines.ts';
import { explainMiss } from './near-miss.ts';

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

/**
 * Replace an exact text that stands once in `text`, or everywhere with `replace_all`. A line end in
 * it matches those of the file, whichever they are; new lines get `lineEnd`.
 */
export function applyEdit(text: string, edit: TextEdit, lineEnd: '\n' | '\r\n'): EditResult {
  const refused = unusable(edit, text);
  if (refused !== undefined) return { ok: false, problem: refused };
  if (edit.old_string === '') {
    return { ok: true, text: withLineEnd(edit.new_string, lineEnd), lines: [1] };
  }
  const matches = [...text.matchAll(exactPattern(edit.old_string))];
  if (matches.length === 0) return { ok: false, problem: explainMiss(text, edit.old_string) };
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

/** An empty text stands in an empty file, and nowhere else. */
function unusable(
  { old_string: before, new_string: after }: TextEdit,
  text: string,
): string | undefined {
  if (before === '' && text !== '') {
    return 'old_string is empty: give the text that new_string replaces. To replace the whole file use Write.';
  }
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
