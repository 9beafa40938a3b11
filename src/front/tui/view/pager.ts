import { stripVTControlCharacters } from 'node:util';
import { sanitizeForTerminal } from '../../../base/terminal-text.ts';
import type { Bindings } from '../model/key-bindings.ts';
import { keyHint } from '../model/key-names.ts';
import type {
  ColumnRow,
  Pager,
  PagerDocument,
  PagerPosition,
  PagerSection,
} from '../model/pager.ts';
import { MAX_WIDTH } from './call-lines.ts';
import { diffLines, languageOf } from './diff-lines.ts';
import { fitLine, joinEnds, joinFittingFacts, SEPARATOR, visibleWidth, wrapText } from './fit.ts';
import { markdownLines } from './markdown.ts';
import { plainLines, type Pen } from './pen.ts';
import { markMatches } from './search-marks.ts';

/** The lines of a document. Long texts are drawn and wrapped only where they are in view. */
export interface PagerLines {
  readonly count: number;
  /** Returns a line with its colors, wrapped to the width of the screen. */
  rows(line: number): readonly string[];
  /** Returns a line without colors, for searching. */
  plain(line: number): string;
}

// oxlint-disable-next-line no-control-regex -- the beginnings of control sequences
const CONTROLS = /[\u0008\r\u001b]/;

/** Returns a line of output as it would finally look: without control sequences, and without what it has overwritten. */
function lastVersion(line: string): string {
  const plain = sanitizeForTerminal(line, 'plain');
  const end = /\r*$/.exec(plain)?.index ?? plain.length;
  return plain.slice(plain.slice(0, end).lastIndexOf('\r') + 1, end);
}

/** Returns the lines of a document for a width. */
export function pagerLines({ sections }: PagerDocument, width: number, pen: Pen): PagerLines {
  const drawn = sections.map((section) => drawnSection(section, width, pen));
  const starts: number[] = [];
  let count = 0;
  for (const { lines } of drawn) {
    starts.push(count);
    count += lines.length;
  }
  const find = (line: number) => {
    const index = starts.findLastIndex((start) => start <= line);
    const section = drawn[index];
    const text = section?.lines[line - (starts[index] ?? 0)] ?? '';
    const isRaw = section?.isOutput === true && CONTROLS.test(text);
    return { text: isRaw ? lastVersion(text) : text, isDrawn: section?.isDrawn ?? false };
  };
  return {
    count,
    rows(line) {
      const { text, isDrawn } = find(line);
      return wrapText(isDrawn ? text : pen.exact('text', text), width, '');
    },
    plain(line) {
      const { text, isDrawn } = find(line);
      return isDrawn ? stripVTControlCharacters(text) : text;
    },
  };
}

/** Draws a section, except a text, which can be very long. */
function drawnSection(section: PagerSection, width: number, pen: Pen) {
  if (section.kind === 'text') return { ...section, isDrawn: false };
  const draw = (): readonly string[] => {
    switch (section.kind) {
      case 'heading':
        return ['', pen.prose('strong', section.text), ''];
      case 'diff':
        return diffLines(section.diff, pen, languageOf(section.path));
      case 'columns':
        return columnLines(section.rows, width, pen);
      case 'markdown': {
        const style = { width: Math.min(width, MAX_WIDTH), isOpen: false, hidesTargets: true };
        return markdownLines(plainLines(section.text), style, pen);
      }
      default:
        return section satisfies never;
    }
  };
  return { lines: pen.keep(section, String(width), draw), isDrawn: true, isOutput: false };
}

/** The maximum width of a column of names. The text behind a longer name begins on the next line. */
const MAX_NAMES = 26;

/** Draws names with their texts beside them. A text that is too long continues below its beginning. */
function columnLines(rows: readonly ColumnRow[], width: number, pen: Pen): readonly string[] {
  const widest = Math.max(...rows.map(([name]) => visibleWidth(name)));
  const names = Math.min(widest, MAX_NAMES, Math.floor(width / 2));
  const indent = ' '.repeat(names + 2);
  return rows.flatMap(([name, text]) => {
    const [first = '', ...rest] = wrapText(pen.prose('text', text), width, indent);
    const shown = pen.prose('accent', name);
    const gap = names - visibleWidth(shown);
    return gap < 0
      ? [fitLine(shown, width), first, ...rest]
      : [`${shown}${' '.repeat(gap)}  ${first.slice(indent.length)}`, ...rest];
  });
}

/** The number of lines above and below the text. */
const FRAME_LINES = 2;

/** Returns the number of rows of text on a screen. */
export function pagerHeight(height: number): number {
  return Math.max(1, height - FRAME_LINES);
}

/** Returns a position some rows further, back for a negative number, but not before the beginning or behind the last screen. */
export function moveRows(
  lines: PagerLines,
  { line, row }: PagerPosition,
  by: number,
  height: number,
): PagerPosition {
  let [at, left] = [Math.min(line, Math.max(0, lines.count - 1)), row + by];
  while (left < 0 && at > 0) {
    at -= 1;
    left += lines.rows(at).length;
  }
  let length = lines.rows(at).length;
  while (left >= length && at < lines.count - 1) {
    left -= length;
    at += 1;
    length = lines.rows(at).length;
  }
  const moved = { line: at, row: Math.max(0, Math.min(left, length - 1)) };
  const end = lastScreen(lines, height);
  const isBehind = moved.line > end.line || (moved.line === end.line && moved.row > end.row);
  return isBehind ? end : moved;
}

/** Returns the first row of the last screen. */
export function lastScreen(lines: PagerLines, height: number): PagerPosition {
  let left = height;
  for (let line = lines.count - 1; line >= 0; line -= 1) {
    const { length } = lines.rows(line);
    if (length >= left) return { line, row: length - left };
    left -= length;
  }
  return { line: 0, row: 0 };
}

export interface PagerStyle {
  readonly width: number;
  readonly height: number;
  readonly bindings: Bindings;
  /** The search that is being typed; null if none is. */
  readonly typed: string | null;
  /** The number of questions that wait for the user. */
  readonly questions: number;
}

/** Draws the pager: the title, the text, and the position with the keys. */
export function pagerScreen(pager: Pager, style: PagerStyle, pen: Pen): readonly string[] {
  const { width, height } = style;
  const lines = pagerLines(pager.document, width, pen);
  const room = pagerHeight(height);
  const { pattern, match } = pager;
  const shown: string[] = [];
  let [{ line, row }] = [pager.top];
  let last = line;
  for (; line < lines.count && shown.length < room; line += 1) {
    const rows = lines.rows(line);
    const here = line === match ? 0 : null;
    const marked = pattern === null ? rows : markMatches(rows, pattern, null, pen);
    const signed = here === null ? marked : markMatches(rows, pattern ?? /$^/g, 0, pen);
    shown.push(...signed.slice(row, row + room - shown.length));
    last = line;
    row = 0;
  }
  const blank = Array<string>(Math.max(0, room - shown.length)).fill('');
  const position = positionText(pager, lines.count, last);
  return [
    fitLine(pen.exact('strong', pager.document.title), width),
    ...shown,
    ...blank,
    bottomLine(pager, position, style, pen),
  ].slice(0, height);
}

function positionText({ top }: Pager, count: number, last: number): string {
  const isAll = top.line === 0 && top.row === 0 && last >= count - 1;
  if (isAll) return 'all';
  const percent = Math.floor(((last + 1) / Math.max(1, count)) * 100);
  return `lines ${top.line + 1}–${last + 1} of ${count} (${percent} %)`;
}

function bottomLine(
  { pattern, matches, match }: Pager,
  position: string,
  { width, bindings, typed, questions }: PagerStyle,
  pen: Pen,
): string {
  if (typed !== null) {
    const hints = [
      ...keyHint(bindings, 'find-done', 'finds'),
      ...keyHint(bindings, 'interrupt', 'back'),
    ];
    return joinEnds(
      pen.exact('text', `/${typed}▏`),
      pen.prose('dim', hints.join(SEPARATOR)),
      width,
    );
  }
  const found = match === null ? 0 : matches.indexOf(match) + 1;
  const matched =
    pattern === null
      ? []
      : [matches.length === 0 ? 'nothing found' : `match ${found} of ${matches.length}`];
  const asked = questions === 0 ? [] : ['a question waits'];
  const start = pen.prose('accent', [position, ...matched, ...asked].join(SEPARATOR));
  const next = pattern === null ? [] : keyHint(bindings, 'pager-next', 'next');
  const hints = [
    ...keyHint(bindings, 'interrupt', 'closes'),
    ...keyHint(bindings, 'pager-search', 'search'),
    ...next,
    ...keyHint(bindings, 'pager-end', 'end'),
  ];
  const room = width - position.length - [...matched, ...asked].join(SEPARATOR).length - 4;
  return joinEnds(start, pen.prose('dim', joinFittingFacts(hints, room)), width);
}
