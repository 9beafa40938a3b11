import { compareLines, type ChangedLines, type Lines } from './compare-lines.ts';

/** The maximum length, in bytes and in lines, of a file whose lines are merged. */
export const MAX_MERGE_BYTES = 4 * 1024 * 1024;
export const MAX_MERGE_LINES = 250_000;

/** The lines of one side in a conflict. */
export interface HunkSide {
  /** The number of the first line, counted from 1. Without lines: the number of the line before which they were. */
  readonly line: number;
  readonly text: string;
}

/** A place where both sides have changed the same or adjacent lines in different ways. */
export interface ConflictHunk {
  readonly base: HunkSide;
  readonly ours: HunkSide;
  readonly theirs: HunkSide;
}

/** The result of merging the lines of a file. */
export type TextMerge =
  | { readonly kind: 'merged'; readonly bytes: Buffer }
  | { readonly kind: 'conflict'; readonly hunks: readonly ConflictHunk[] }
  | { readonly kind: 'binary' }
  | { readonly kind: 'too_large' };

/** The three versions of something that is merged. */
export interface Versions<T> {
  readonly base: T;
  readonly ours: T;
  readonly theirs: T;
}

/**
 * Merges the changes that two sides have made to a text. Lines keep their ends. A text with a NUL byte is binary. Changes
 * that overlap or touch are a conflict, unless both sides have made the same change.
 */
export function mergeTexts({ base, ours, theirs }: Versions<Buffer>): TextMerge {
  const all = [base, ours, theirs];
  if (all.some((bytes) => bytes.includes(0))) return { kind: 'binary' };
  if (all.some((bytes) => bytes.length > MAX_MERGE_BYTES)) return { kind: 'too_large' };
  const texts = { base: splitLines(base), ours: splitLines(ours), theirs: splitLines(theirs) };
  if (Object.values(texts).some((lines) => lines.length > MAX_MERGE_LINES)) {
    return { kind: 'too_large' };
  }
  const merged: string[] = [];
  const hunks: ConflictHunk[] = [];
  let line = 0;
  for (const region of findRegions(texts)) {
    append(merged, texts.base, line, region.base.start);
    line = region.base.end;
    const [own, other] = [sliceOf(texts.ours, region.ours), sliceOf(texts.theirs, region.theirs)];
    const old = sliceOf(texts.base, region.base);
    if (own === other || other === old) merged.push(own);
    else if (own === old) merged.push(other);
    else {
      hunks.push({
        base: toSide(region.base, old),
        ours: toSide(region.ours, own),
        theirs: toSide(region.theirs, other),
      });
    }
  }
  append(merged, texts.base, line, texts.base.length);
  if (hunks.length > 0) return { kind: 'conflict', hunks };
  return { kind: 'merged', bytes: Buffer.from(merged.join(''), 'latin1') };
}

/** Splits a text into lines with their ends. Each byte becomes a character, so that every encoding stays as it is. */
function splitLines(bytes: Buffer): readonly string[] {
  return bytes.toString('latin1').match(/[^\n]*\n|[^\n]+/g) ?? [];
}

function append(target: string[], lines: readonly string[], start: number, end: number): void {
  for (let index = start; index < end; index += 1) target.push(lines[index] ?? '');
}

interface Range {
  readonly start: number;
  readonly end: number;
}

function sliceOf(lines: readonly string[], { start, end }: Range): string {
  return lines.slice(start, end).join('');
}

function toSide({ start }: Range, text: string): HunkSide {
  return { line: start + 1, text: Buffer.from(text, 'latin1').toString('utf8') };
}

/** Finds the regions of the base that one or both sides have changed. Changes that touch belong to one region. */
function findRegions(texts: Versions<readonly string[]>): readonly Versions<Range>[] {
  const toNumbers = createNumbering();
  const base = toNumbers(texts.base);
  const ours = compareLines(base, toNumbers(texts.ours));
  const theirs = compareLines(base, toNumbers(texts.theirs));
  const regions: Versions<Range>[] = [];
  // How far the lines of each side lie behind those of the base.
  let [ourShift, theirShift] = [0, 0];
  let [ourNext, theirNext] = [0, 0];
  for (;;) {
    const start = Math.min(startOf(ours[ourNext]), startOf(theirs[theirNext]));
    if (start === Number.POSITIVE_INFINITY) return regions;
    const [ourStart, theirStart] = [start + ourShift, start + theirShift];
    let end = start;
    for (;;) {
      const own = ours[ourNext];
      const other = theirs[theirNext];
      if (own !== undefined && own.start <= end) {
        end = Math.max(end, own.end);
        ourShift = own.newEnd - own.end;
        ourNext += 1;
      } else if (other !== undefined && other.start <= end) {
        end = Math.max(end, other.end);
        theirShift = other.newEnd - other.end;
        theirNext += 1;
      } else break;
    }
    regions.push({
      base: { start, end },
      ours: { start: ourStart, end: end + ourShift },
      theirs: { start: theirStart, end: end + theirShift },
    });
  }
}

function startOf(change: ChangedLines | undefined): number {
  return change?.start ?? Number.POSITIVE_INFINITY;
}

/** Returns a function that gives equal lines of several texts the same number. */
function createNumbering(): (lines: readonly string[]) => Lines {
  const numbers = new Map<string, number>();
  return (lines) =>
    lines.map((line) => {
      const known = numbers.get(line);
      if (known !== undefined) return known;
      numbers.set(line, numbers.size);
      return numbers.size - 1;
    });
}
