import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareLines, type ChangedLines } from '../../../src/workspaces/merge/compare-lines.ts';
import { mergeTexts, type TextMerge } from '../../../src/workspaces/merge/merge-text.ts';

function merge(base: string, ours: string, theirs: string): TextMerge {
  return mergeTexts({
    base: Buffer.from(base),
    ours: Buffer.from(ours),
    theirs: Buffer.from(theirs),
  });
}

/** Returns the merged text; null for a conflict. */
function mergedText(base: string, ours: string, theirs: string): string | null {
  const result = merge(base, ours, theirs);
  return result.kind === 'merged' ? result.bytes.toString() : null;
}

describe('mergeTexts', () => {
  it.each([
    ['nothing changed', 'a\n', 'a\n', 'a\n', 'a\n'],
    ['edits on both sides', 'a\nb\nc\n', 'A\nb\nc\n', 'a\nb\nC\n', 'A\nb\nC\n'],
    ['the same edit on both sides', 'a\nb\n', 'A\nb\n', 'A\nb\n', 'A\nb\n'],
    ['adjacent edits', 'a\nb\n', 'A\nb\n', 'a\nB\n', null],
    ['different lines at the end', 'a\n', 'a\nx\n', 'a\ny\n', null],
    ['the same line at the end', 'a\n', 'a\nx\n', 'a\nx\n', 'a\nx\n'],
    ['a missing end of the last line', 'a\nb\nc', 'A\nb\nc', 'a\nb\nC', 'A\nb\nC'],
    ['a new end of the last line', 'a\nb\nc', 'A\nb\nc', 'a\nb\nc\n', 'A\nb\nc\n'],
    [
      'ends of lines of Windows',
      'a\r\nb\r\nc\r\n',
      'A\r\nb\r\nc\r\n',
      'a\r\nb\r\nC\r\n',
      'A\r\nb\r\nC\r\n',
    ],
    ['other ends of lines on one side', 'a\nb\nc\n', 'a\r\nb\r\nc\r\n', 'a\nb\nC\n', null],
    ['an empty base', '', 'a\n', 'b\n', null],
    ['an edit and an emptied file', 'a\nb\n', '', 'A\nb\n', null],
  ])('%s', (_, base, ours, theirs, expected) => {
    expect(mergedText(base, ours, theirs)).toBe(expected);
  });

  it('keeps bytes that are no UTF-8', () => {
    const versions = {
      base: Buffer.from([0xff, 10, 97, 10, 0xfe]),
      ours: Buffer.from([0xff, 10, 97, 10, 0xfd]),
      theirs: Buffer.from([0xc3, 10, 97, 10, 0xfe]),
    };
    expect(mergeTexts(versions)).toEqual({
      kind: 'merged',
      bytes: Buffer.from([0xc3, 10, 97, 10, 0xfd]),
    });
  });

  it('takes no time that grows with the square of the length', () => {
    // With a quadratic search, each of these would take minutes.
    const same = '\n'.repeat(50_000);
    expect(mergedText(same, `a\n${same}`, `${same}b\n`)).toBe(`a\n${same}b\n`);
    const many = '\n'.repeat(250_001);
    expect(merge(many, `a${many}`, `b${many}`)).toEqual({ kind: 'too_large' });
    const lines = (prefix: string) =>
      Array.from({ length: 20_000 }, (_, index) => `${prefix}${index}\n`).join('');
    expect(mergedText(lines('a'), lines('b'), lines('a'))).toBe(lines('b'));
    expect(merge(lines('a'), lines('b'), lines('c')).kind).toBe('conflict');
  });
});

const letters = fc.array(fc.constantFrom(1, 2, 3, 4, 5), { maxLength: 40 });

function applyLineChanges(
  old: readonly number[],
  current: readonly number[],
  changes: readonly ChangedLines[],
): number[] {
  const result: number[] = [];
  let line = 0;
  for (const { start, end, newStart, newEnd } of changes) {
    result.push(...old.slice(line, start), ...current.slice(newStart, newEnd));
    line = end;
  }
  return [...result, ...old.slice(line)];
}

describe('compareLines', () => {
  it('finds changes that turn the old text into the new one', () => {
    fc.assert(
      fc.property(letters, letters, (old, current) => {
        const changes = compareLines(old, current);
        expect(applyLineChanges(old, current, changes)).toEqual(current);
      }),
      { numRuns: 2000 },
    );
  });

  it('finds the fewest changes', () => {
    fc.assert(
      fc.property(letters, letters, (old, current) => {
        const kept =
          old.length -
          compareLines(old, current).reduce((sum, { start, end }) => sum + end - start, 0);
        expect(kept).toBe(longestCommon(old, current));
      }),
      { numRuns: 2000 },
    );
  });

  it('finds changes that turn the old text into the new one when it gives up looking for the fewest', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 9 }),
        fc.integer({ min: 0, max: 1 << 30 }),
        (kinds, seed) => {
          const old = pseudoRandom(6000, kinds, seed);
          const current = pseudoRandom(6000, kinds, seed + 1);
          expect(applyLineChanges(old, current, compareLines(old, current))).toEqual(current);
        },
      ),
      { numRuns: 3 },
    );
  });
});

function pseudoRandom(length: number, kinds: number, seed: number): number[] {
  let state = seed >>> 0;
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state >>> 16) % kinds;
  });
}

function longestCommon(a: readonly number[], b: readonly number[]): number {
  let above = Array.from({ length: b.length + 1 }, () => 0);
  for (const item of a) {
    const row = [0];
    for (const [index, other] of b.entries()) {
      const best =
        item === other ? (above[index] ?? 0) + 1 : Math.max(above[index + 1] ?? 0, row[index] ?? 0);
      row.push(best);
    }
    above = row;
  }
  return above.at(-1) ?? 0;
}

/** Edits of a text whose lines all differ: for each line of the base whether it goes, and new lines before it. */
interface Edits {
  readonly removed: readonly boolean[];
  readonly inserted: readonly (readonly string[])[];
}

const LENGTH = 30;

function edits(side: string): fc.Arbitrary<Edits> {
  const rarely = fc.integer({ min: 0, max: 9 }).map((value) => value === 0);
  return fc
    .record({
      removed: fc.array(rarely, { minLength: LENGTH, maxLength: LENGTH }),
      counts: fc.array(
        fc.integer({ min: 0, max: 20 }).map((value) => (value > 2 ? 0 : value)),
        { minLength: LENGTH + 1, maxLength: LENGTH + 1 },
      ),
    })
    .map(({ removed, counts }) => ({
      removed,
      inserted: counts.map((count, at) =>
        Array.from({ length: count }, (_, index) => `${side} ${at}.${index}\n`),
      ),
    }));
}

const baseLines = Array.from({ length: LENGTH }, (_, index) => `line ${index}\n`);

function applyEdits({ removed, inserted }: Edits): string {
  const lines = baseLines.flatMap((line, index) => [
    ...(inserted[index] ?? []),
    ...(removed[index] === true ? [] : [line]),
  ]);
  return [...lines, ...(inserted[LENGTH] ?? [])].join('');
}

describe('a clean merge', () => {
  const BASE = baseLines.join('');

  it('contains what each side has added, and nothing that a side has removed', () => {
    let clean = 0;
    fc.assert(
      fc.property(edits('ours'), edits('theirs'), (own, other) => {
        const merged = mergedText(BASE, applyEdits(own), applyEdits(other));
        if (merged === null) return;
        clean += 1;
        const expected = baseLines.filter(
          (_, index) => own.removed[index] !== true && other.removed[index] !== true,
        );
        const lines = merged.match(/[^\n]*\n/g) ?? [];
        const added = [...own.inserted, ...other.inserted].flat();
        expect([...lines].toSorted()).toEqual([...expected, ...added].toSorted());
        expect(lines.filter((line) => line.startsWith('line'))).toEqual(expected);
      }),
      { numRuns: 2000 },
    );
    expect(clean).toBeGreaterThan(50);
  });

  it('does not depend on which side is which', () => {
    fc.assert(
      fc.property(edits('ours'), edits('theirs'), (own, other) => {
        const [a, b] = [applyEdits(own), applyEdits(other)];
        expect(mergedText(BASE, a, b)).toBe(mergedText(BASE, b, a));
      }),
      { numRuns: 1000 },
    );
  });

  it('stays as it is when it is merged again with either side', () => {
    fc.assert(
      fc.property(edits('ours'), edits('theirs'), (own, other) => {
        const [a, b] = [applyEdits(own), applyEdits(other)];
        const merged = mergedText(BASE, a, b);
        if (merged === null) return;
        expect([mergedText(BASE, merged, a), mergedText(BASE, merged, b)]).toEqual([
          merged,
          merged,
        ]);
      }),
      { numRuns: 1000 },
    );
  });
});
