import type { TextDiff } from './text-diff.ts';

/** A name and what it stands for. */
export type ColumnRow = readonly [name: string, text: string];

/** A part of a text on the full screen. */
export type PagerSection =
  | { readonly kind: 'heading'; readonly text: string }
  /** `isOutput`: the raw output of a program, of which only the last version of an overwritten line is shown. */
  | { readonly kind: 'text'; readonly lines: readonly string[]; readonly isOutput?: true }
  | { readonly kind: 'markdown'; readonly text: string }
  | { readonly kind: 'columns'; readonly rows: readonly ColumnRow[] }
  /** `path` is the name of the changed file, which decides the colors. */
  | { readonly kind: 'diff'; readonly diff: TextDiff; readonly path: string };

/** A text that the pager shows on the full screen. */
export interface PagerDocument {
  readonly title: string;
  readonly sections: readonly PagerSection[];
}

/** A position in a document: the index of a line, and of a row of that line, which may be wrapped. */
export interface PagerPosition {
  readonly line: number;
  readonly row: number;
}

/** The open pager. */
export interface Pager {
  readonly document: PagerDocument;
  /** The first row in view. */
  readonly top: PagerPosition;
  /** The pattern of the last search; null before the first one. */
  readonly pattern: RegExp | null;
  /** The indexes of the lines that match. */
  readonly matches: readonly number[];
  /** The line of the current match; null if there is none. */
  readonly match: number | null;
}

/** The maximum length of a text in the pager, in UTF-16 units, so that it opens at once. */
export const MAX_PAGER_TEXT = 16 * 1024 * 1024;
/** The length from which a line is split, because the time for wrapping grows with the length. */
const MAX_LINE = 4_000;
const PIECES = new RegExp(String.raw`[\s\S]{1,${MAX_LINE}}`, 'gu');

/** Makes a section of the raw output of a program. */
export function outputSection(output: string): PagerSection {
  return { kind: 'text', lines: textLines(output), isOutput: true };
}

/** Makes a section of a text. */
export function textSection(text: string): PagerSection {
  return { kind: 'text', lines: textLines(text) };
}

/** Splits a text into lines. A text over the limit is cut, and its last line says so. */
function textLines(text: string): readonly string[] {
  const shown = text.slice(0, MAX_PAGER_TEXT);
  const lines = shown
    .replace(/\n$/, '')
    .split('\n')
    .flatMap((line) => (line.length <= MAX_LINE ? [line] : (line.match(PIECES) ?? [])));
  const cut = text.length - shown.length;
  if (cut > 0) lines.push(`… ${cut} more characters: the pager shows ${MAX_PAGER_TEXT}`);
  return lines;
}

/** Opens a document at its beginning. */
export function openPager(document: PagerDocument): Pager {
  return { document, top: { line: 0, row: 0 }, pattern: null, matches: [], match: null };
}
