import { extname } from 'node:path';
import { plural } from '../../base/text.ts';
import { convertLineEnds } from '../shared/file-text.ts';
import { formatLineNumbers } from '../shared/output.ts';
import { explainMiss } from './near-miss.ts';

/** One replacement of an exact text. */
export interface TextEdit {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean | undefined;
  /** The number of occurrences that the file must have. Each occurrence is replaced. */
  readonly expected_replacements?: number | undefined;
}

/** The result of an edit. */
export type EditResult =
  /** `lines` are the line numbers (from 1) at which the replaced texts began before this edit. */
  | { readonly ok: true; readonly text: string; readonly lines: readonly number[] }
  | { readonly ok: false; readonly problem: string };

/**
 * Replaces an exact text that occurs once in `text`, or all its occurrences with `replace_all`. A line end in the old
 * text matches LF and CRLF. Line ends in the new text become `lineEnd`.
 */
export function applyEdit(text: string, edit: TextEdit, lineEnd: '\n' | '\r\n'): EditResult {
  const problem = describeUnusable(edit, text);
  if (problem !== undefined) return { ok: false, problem };
  if (edit.old_string === '') {
    return { ok: true, text: convertLineEnds(edit.new_string, lineEnd), lines: [1] };
  }
  const matches = [...text.matchAll(createExactPattern(edit.old_string))];
  if (matches.length === 0) return { ok: false, problem: explainMiss(text, edit.old_string) };
  const lines = findLineNumbers(
    text,
    matches.map((match) => match.index),
  );
  const { expected_replacements: expected } = edit;
  if (expected !== undefined && expected !== matches.length) {
    return { ok: false, problem: describeUnexpectedCount(lines, expected) };
  }
  if (matches.length > 1 && edit.replace_all !== true && expected === undefined) {
    return { ok: false, problem: describeNotUnique(lines) };
  }
  const replacement = convertLineEnds(edit.new_string, lineEnd);
  let result = '';
  let end = 0;
  for (const match of matches) {
    result += text.slice(end, match.index) + replacement;
    end = match.index + match[0].length;
  }
  return { ok: true, text: result + text.slice(end), lines };
}

/**
 * Describes why an edit cannot be applied. Returns undefined if it can. An empty old text matches only an empty file.
 */
function describeUnusable(edit: TextEdit, text: string): string | undefined {
  const { old_string: before, new_string: after } = edit;
  if (before === '' && text !== '') {
    return 'old_string is empty: give the text that new_string replaces. To replace the whole file use Write.';
  }
  if (before === after) return 'old_string and new_string are the same: nothing to change.';
  return undefined;
}

function createExactPattern(literal: string): RegExp {
  const escaped = literal.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
  return new RegExp(escaped.replaceAll(/\r?\n/g, String.raw`\r?\n`), 'g');
}

/** Returns the line numbers (from 1) of positions in a text. The positions must be in ascending order. */
function findLineNumbers(text: string, positions: readonly number[]): number[] {
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

function describeNotUnique(lines: readonly number[]): string {
  return `old_string occurs ${lines.length} times, at ${formatLineNumbers(lines)}: add lines around it until it is unique, or set replace_all.`;
}

function describeUnexpectedCount(lines: readonly number[], expected: number): string {
  const found = plural(lines.length, 'time');
  return `old_string occurs ${found}, at ${formatLineNumbers(lines)}, and expected_replacements is ${expected}.`;
}

/** The cell types of nbformat. */
export type CellType = 'code' | 'markdown' | 'raw';

/** A change of a notebook: a replacement of text in its cells, or a change of a full cell. */
export interface CellEdit extends TextEdit {
  /** The id of a cell, or its number as Read shows it. */
  readonly cell_id?: string | undefined;
  readonly cell_type?: CellType | undefined;
  readonly edit_mode?: 'replace' | 'insert' | 'delete' | undefined;
}

/** The result of an edit of a notebook. */
export type NotebookEditResult =
  /** `done` describes the change for the result of the call. */
  | { readonly ok: true; readonly text: string; readonly done: string }
  | { readonly ok: false; readonly problem: string };

/** Returns whether an edit has an argument that applies only to notebooks. */
export function isCellEdit({ cell_id: id, cell_type: type, edit_mode: mode }: CellEdit): boolean {
  return id !== undefined || type !== undefined || mode !== undefined;
}

/** Returns whether a file has the name of a Jupyter notebook. */
export function isNotebookPath(path: string): boolean {
  return extname(path).toLowerCase() === '.ipynb';
}
