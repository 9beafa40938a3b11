import { beginningOf, copied } from './cut-text.ts';
import { lineChanges, type LineChange } from './line-changes.ts';

/** A line of a change of text. */
export type DiffLine =
  | {
      readonly sign: ' ' | '-' | '+';
      readonly text: string;
      /** From 1, on its own side of the change. */
      readonly number: number;
      /** What has changed within it; null: all of it, or nothing. */
      readonly words: Span | null;
    }
  /** Lines that stay, and are not shown. */
  | { readonly sign: '…'; readonly count: number };

/** A change of text: what goes, what comes, and the lines around that stay. */
export interface TextDiff {
  readonly lines: readonly DiffLine[];
  readonly added: number;
  readonly removed: number;
  /** Changed lines, and those around, that are not kept. */
  readonly left: number;
  /** The line of the file at which both sides begin, from 1; null: not known. */
  readonly first: number | null;
}

export interface DiffBounds {
  /** Lines that are kept. */
  readonly lines: number;
  /** Of a line, in UTF-16 units. */
  readonly lineLength: number;
  /** Lines that stay, before and behind each change. */
  readonly around: number;
}

/** Nothing is left out. */
export const WHOLE: DiffBounds = { lines: Infinity, lineLength: Infinity, around: Infinity };

/** `before`: null where a whole file is written. */
export function textDiff(before: string | null, after: string, bounds: DiffBounds): TextDiff {
  const [old, now] = sides(before ?? '', after);
  const changes = lineChanges(old, now);
  const shown = withGaps(changes, bounds.around);
  const kept = shown.slice(0, bounds.lines);
  const textOf = ({ sign, at }: LineChange) =>
    copied(beginningOf((sign === '-' ? old : now)[at] ?? '', bounds.lineLength));
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
    left: shown.length - kept.length,
    first: before === null ? 1 : null,
  };
}

/** The newline at the end makes no line, but where one side alone has it. */
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

/** Where as many lines come as go, each is what has become of one. */
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

/** A part of a text, in UTF-16 units. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Longer lines are not looked into. */
const MOST = 400;
/** Of the longer line, that must be the same: else it is another line, and no change of that one. */
const SAME_SHARE = 1 / 3;

let words: Intl.Segmenter | null = null;

/** What two lines differ in, whole words and whole characters; null: in too much to point at. */
export function changedWords(
  before: string,
  after: string,
): { readonly before: Span; readonly after: Span } | null {
  if (before.length > MOST || after.length > MOST) return null;
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
