import { textStart, copied } from './cut-text.ts';

type Lines = readonly string[];

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
  /** A number of unchanged lines that are not shown. */
  | { readonly sign: '…'; readonly count: number };

/** A text change: removed and added lines, with some unchanged lines before and after them. */
export interface TextDiff {
  readonly lines: readonly DiffLine[];
  readonly added: number;
  readonly removed: number;
  /** The number of lines that were left out because of the limit. */
  readonly dropped: number;
  /** The line of the file at which the change begins, from 1; null if that is not known. */
  readonly first: number | null;
}

export interface DiffBounds {
  /** The maximum number of lines of the change. */
  readonly lines: number;
  /** The maximum length of a line, in UTF-16 units. */
  readonly lineLength: number;
  /** The number of unchanged lines before and after each change. */
  readonly context: number;
}

/** Limits that leave nothing out. */
export const UNLIMITED_DIFF: DiffBounds = {
  lines: Infinity,
  lineLength: Infinity,
  context: Infinity,
};

/** Compares two texts. `before` is null if a complete file is written. */
export function textDiff(before: string | null, after: string, bounds: DiffBounds): TextDiff {
  const [old, now] = sides(before ?? '', after);
  const changes = lineChanges(old, now);
  const shown = withGaps(changes, bounds.context);
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

/** Splits both sides into lines. A newline at the end begins no line, unless only one side ends with a newline. */
function sides(before: string, after: string): readonly [Lines, Lines] {
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

/** Marks the changed words of lines. If as many lines are added as are removed, each added line is taken to replace a removed line. */
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

/** The maximum length of lines whose words are compared. */
const MAX_LINE = 400;
/** The minimum share of the longer line that must be unchanged. With a smaller share, the lines count as unrelated. */
const SAME_SHARE = 1 / 3;

let words: Intl.Segmenter | null = null;

/** Returns the ranges of full words in which two lines differ; null if too much of the lines differs. */
export function changedWords(
  before: string,
  after: string,
): { readonly before: TextRange; readonly after: TextRange } | null {
  if (before.length > MAX_LINE || after.length > MAX_LINE) return null;
  const [old, now] = [splitWords(before), splitWords(after)];
  const { start, end } = commonEnds(old, now);
  const from = old.slice(0, start).join('').length;
  const behind = old.slice(old.length - end).join('').length;
  const same = (before.slice(0, from) + before.slice(before.length - behind)).trim().length;
  if (same < Math.max(before.trim().length, after.trim().length) * SAME_SHARE) return null;
  return {
    before: { from, to: before.length - behind },
    after: { from, to: after.length - behind },
  };
}

/** Counts the items that two lists share at their start, and those that the rest of the lists share at their end. */
function commonEnds(before: Lines, after: Lines): { readonly start: number; readonly end: number } {
  const shorter = Math.min(before.length, after.length);
  let [start, end] = [0, 0];
  while (start < shorter && before[start] === after[start]) start += 1;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return { start, end };
}

function splitWords(line: string): readonly string[] {
  words ??= new Intl.Segmenter('en', { granularity: 'word' });
  return Array.from(words.segment(line), ({ segment }) => segment);
}

/** The maximum number of cells of the table for comparing two texts. If more are needed, everything that differs counts as replaced. */
const MAX_CELLS = 250_000;

/** A line that is unchanged, removed or added. `at` is the index of the line on its own side. */
export interface LineChange {
  readonly sign: ' ' | '-' | '+';
  readonly at: number;
}

/**
 * Returns the smallest number of changes that lead from one list of lines to the other, with removals before additions.
 * The index of an unchanged line is its index in `after`.
 */
export function lineChanges(before: Lines, after: Lines): readonly LineChange[] {
  const { start, end } = commonEnds(before, after);
  const middle = changesBetween(
    before.slice(start, before.length - end),
    after.slice(start, after.length - end),
  );
  return [
    ...keepLines(0, start),
    ...middle.map(({ sign, at }) => ({ sign, at: at + start })),
    ...keepLines(after.length - end, end),
  ];
}

function keepLines(from: number, count: number): readonly LineChange[] {
  return Array.from({ length: count }, (_, index) => ({ sign: ' ', at: from + index }) as const);
}

function changesBetween(before: Lines, after: Lines): readonly LineChange[] {
  const shared = sharedLengths(before, after);
  const changes: LineChange[] = [];
  // Additions wait until all removals are listed.
  let additions: LineChange[] = [];
  let [old, now] = [0, 0];
  while (old < before.length || now < after.length) {
    if (
      old < before.length &&
      now < after.length &&
      shared !== null &&
      before[old] === after[now]
    ) {
      changes.push(...additions, { sign: ' ', at: now });
      additions = [];
      old += 1;
      now += 1;
    } else if (
      now === after.length ||
      (old < before.length && (shared === null || shared(old + 1, now) >= shared(old, now + 1)))
    ) {
      changes.push({ sign: '-', at: old });
      old += 1;
    } else {
      additions.push({ sign: '+', at: now });
      now += 1;
    }
  }
  return [...changes, ...additions];
}

/** Returns a function that counts the lines that both sides have in common from two indexes on; null if the table would be too large. */
function sharedLengths(before: Lines, after: Lines): ((old: number, now: number) => number) | null {
  const row = after.length + 1;
  if ((before.length + 1) * row > MAX_CELLS) return null;
  const table = new Uint16Array((before.length + 1) * row);
  const cell = (old: number, now: number) => table[old * row + now] ?? 0;
  for (let old = before.length - 1; old >= 0; old -= 1) {
    for (let now = after.length - 1; now >= 0; now -= 1) {
      table[old * row + now] =
        before[old] === after[now]
          ? cell(old + 1, now + 1) + 1
          : Math.max(cell(old + 1, now), cell(old, now + 1));
    }
  }
  return cell;
}
