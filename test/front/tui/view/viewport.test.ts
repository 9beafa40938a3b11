import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { anchorAfterScroll, viewAt, type Parts } from '../../../../src/front/tui/view/viewport.ts';

function partsOf(lengths: readonly number[]): Parts {
  return {
    count: lengths.length,
    part: (index) => ({
      key: index * 2,
      lines: Array.from({ length: lengths[index] ?? 0 }, (_, line) => `${index}.${line}`),
    }),
  };
}

const LENGTHS = fc.array(fc.nat(7), { maxLength: 20 });

/** What the same calls would give on one long list of lines. */
function model(lengths: readonly number[], height: number, moves: readonly number[]) {
  const all = lengths.flatMap((length, index) =>
    Array.from({ length }, (_, line) => `${index}.${line}`),
  );
  const end = Math.max(0, all.length - height);
  let top = end;
  for (const by of moves) top = Math.min(end, Math.max(0, top + by));
  return all.slice(top, top + height);
}

it('scrolling is like scrolling one list of all lines', () => {
  fc.assert(
    fc.property(
      LENGTHS,
      fc.integer({ min: 1, max: 12 }),
      fc.array(fc.integer({ min: -15, max: 15 }), { maxLength: 8 }),
      (lengths, height, moves) => {
        const parts = partsOf(lengths);
        let anchor = null;
        for (const by of moves) anchor = anchorAfterScroll(parts, anchor, by, height);
        expect(viewAt(parts, anchor, height).lines).toEqual(model(lengths, height, moves));
      },
    ),
  );
});

it('the view stays while more arrives at the end, and follows the end from there', () => {
  const height = 3;
  const before = partsOf([4, 4, 4]);
  const after = partsOf([4, 4, 4, 5]);
  const up = anchorAfterScroll(before, null, -4, height);
  expect(viewAt(before, up, height).lines).toEqual(viewAt(after, up, height).lines);
  expect(viewAt(after, null, height).lines).toEqual(['3.2', '3.3', '3.4']);
});

it('the view goes to the end if its anchor is gone', () => {
  const parts = partsOf([4, 4]);
  expect(viewAt(parts, { key: 99, line: 0 }, 2)).toEqual({ lines: ['1.2', '1.3'], anchor: null });
});
