import { textStart, copied } from './cut-text.ts';
import { lineChanges, type LineChange } from './line-changes.ts';

/** A line of a text change. */
export type DiffLine =
  | {
      readonly sign: ' ' | '-' | '+';
      readonly text: string;
      /** The line number on its own side of the change, from 1. */
      readonly number: number;
      /** The changed part of the line; null if all of it changed, or nothing. */
      readonly words: TextRange | null;
    }
  /** Kept lines that are not shown. */
  | { readonly sign: '…'; readonly count: number };

/** A text change: removed and added lines, with the kept lines around them. */
export interface TextDiff {
  readonly lines: readonly DiffLine[];
  readonly added: number;
  readonly removed: number;
  /** The number of lines beyond the limit. */
  readonly dropped: number;
  /** The line of the file at which the change begins, from 1; null if that is not known. */
  readonly first: number | null;
}

export interface DiffBounds {
  /** The number of lines that are kept. */
  readonly lines: number;
  /** The longest line, in UTF-16 units. */
  readonly lineLength: number;
  /** The number of kept lines before and after each change. */
  readonly around: number;
}

/** Limits that leave nothing out. */
export const WHOLE: DiffBounds = { lines: Infinity, lineLength: Infinity, around: Infinity };

/** Compares two texts. `before` is null if a complete file is written. */
export function textDiff(before: string | null, after: string, bounds: DiffBounds): TextDiff {
  const [old, now] = sides(before ?? '', after);
  const changes = lineChanges(old, now);
  const shown = withGaps(changes, bounds.around);
  const kept = shown.slice(0, bounds.lines);
  const textOf = ({ sign, at }: LineChange) =>
    copied(textStart((sign === '-' ? old : now)[at] ?? '', bounds.lineLength));
  return {
    lines: withWords(
      kept.map((line) =>
        line.sign === '…'
          ? line
          : { sign: line.sign, text: textOf(line), number: line.at + 1, words: null },
      ),
    ),
    added: changes.filter(({ sign }) => sign === '+').length,
    removed: changes.filter(({ sign }) => sign === '-').length,
    dropped: shown.length - kept.length,
    first: before === null ? 1 : null,
  };
}

/** A newline at the end makes no line, unless only one side has it. */
function sides(before: string, after: string): readonly [readonly string[], readonly string[]] {
  const all = [before, after].filter((text) => text !== '');
  const end = all.every((text) => text.endsWith('\n')) ? -1 : undefined;
  const lines = (text: string) => (text === '' ? [] : text.slice(0, end).split('\n'));
  return [lines(before), lines(after)];
}

type Gap = Extract<DiffLine, { sign: '…' }>;

function withGaps(changes: readonly LineChange[], around: number): readonly (LineChange | Gap)[] {
  if (around === Infinity) return changes;
  const isNear = new Uint8Array(changes.length);
  for (const [index, { sign }] of changes.entries()) {
    if (sign !== ' ') isNear.fill(1, Math.max(0, index - around), index + around + 1);
  }
  const lines: (LineChange | Gap)[] = [];
  let count = 0;
  for (const [index, change] of changes.entries()) {
    if (isNear[index] === 0) {
      count += 1;
      continue;
    }
    if (count > 0) lines.push({ sign: '…', count });
    count = 0;
    lines.push(change);
  }
  return count > 0 ? [...lines, { sign: '…', count }] : lines;
}

/** If as many lines are added as removed, each of them replaces one. */
function withWords(lines: readonly DiffLine[]): readonly DiffLine[] {
  const marked = [...lines];
  const countFrom = (sign: string, from: number) => {
    let end = from;
    while (lines[end]?.sign === sign) end += 1;
    return end - from;
  };
  for (let at = 0; at < lines.length; at += 1) {
    const count = countFrom('-', at);
    if (count === 0) continue;
    if (countFrom('+', at + count) === count) {
      for (let index = at; index < at + count; index += 1) markPair(marked, index, index + count);
    }
    at += count - 1;
  }
  return marked;
}

function markPair(lines: DiffLine[], old: number, now: number): void {
  const [before, after] = [lines[old], lines[now]];
  if (before?.sign !== '-' || after?.sign !== '+') return;
  const words = changedWords(before.text, after.text);
  if (words === null) return;
  lines[old] = { ...before, words: words.before };
  lines[now] = { ...after, words: words.after };
}

/** A range of a text, in UTF-16 units. */
export interface TextRange {
  readonly from: number;
  readonly to: number;
}

/** Longer lines are not compared. */
const MAX_LINE = 400;
/** The share of the longer line that must be the same; otherwise the lines have nothing to do with each other. */
const SAME_SHARE = 1 / 3;

let words: Intl.Segmenter | null = null;

/** The range in which two lines differ, in full words; null if they differ in too much. */
export function changedWords(
  before: string,
  after: string,
): { readonly before: TextRange; readonly after: TextRange } | null {
  if (before.length > MAX_LINE || after.length > MAX_LINE) return null;
  const [old, now] = [wordsOf(before), wordsOf(after)];
  const most = Math.min(old.length, now.length);
  let start = 0;
  let from = 0;
  while (start < most && old[start] === now[start]) {
    from += old[start]?.length ?? 0;
    start += 1;
  }
  let end = 0;
  let behind = 0;
  while (end < most - start && old.at(-1 - end) === now.at(-1 - end)) {
    behind += old.at(-1 - end)?.length ?? 0;
    end += 1;
  }
  const same = (before.slice(0, from) + before.slice(before.length - behind)).trim().length;
  if (same < Math.max(before.trim().length, after.trim().length) * SAME_SHARE) return null;
  return {
    before: { from, to: before.length - behind },
    after: { from, to: after.length - behind },
  };
}

function wordsOf(line: string): readonly string[] {
  words ??= new Intl.Segmenter('en', { granularity: 'word' });
  return Array.from(words.segment(line), ({ segment }) => segment);
}
