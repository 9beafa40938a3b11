import { expect, test } from 'vitest';
import { judge, type Bound, type Figure } from '../../bench/harness/figure.ts';
import { renderTable } from '../../bench/harness/table.ts';

function figure(bound: Bound | undefined, samples: readonly number[]): Figure {
  const base: Figure = {
    what: 'a thing',
    unit: 'ms',
    samples,
    floor: { what: 'bare', samples: [90, 110, 100] },
  };
  return bound === undefined ? base : { ...base, bound };
}

test.each([
  [{ kind: 'ratio', most: 1.5, goal: 1.25 }, [150], { value: 1.5, held: true }],
  [{ kind: 'ratio', most: 1.5, goal: 1.25 }, [151], { value: 1.51, held: false }],
  [{ kind: 'above', most: 40, goal: 20 }, [120, 140, 160], { value: 40, held: true }],
  [{ kind: 'above', most: 40, goal: 20 }, [141], { value: 41, held: false }],
  [{ kind: 'most', most: 10, goal: 5 }, [10], { value: 10, held: true }],
  [{ kind: 'most', most: 10, goal: 5 }, [10.1], { value: 10.1, held: false }],
  [{ kind: 'least', least: 100 }, [100], { value: 100, held: true }],
  [{ kind: 'least', least: 100 }, [99.9], { value: 99.9, held: false }],
] as const)('%j with %j', (bound, samples, expected) => {
  expect(judge(figure(bound, samples))).toEqual(expected);
});

test('what has no bound is not judged', () => {
  expect(judge(figure(undefined, [1]))).toBeNull();
});

test('a bound that speaks of a floor does not hold without one', () => {
  const bound: Bound = { kind: 'ratio', most: 2, goal: 1 };
  const judged = judge({ what: 'a thing', unit: 'ms', samples: [1], bound });
  expect(judged).toEqual({ value: Number.NaN, held: false });
});

test('the table shows each figure beside its floor and bound, and its notes below', () => {
  const figures: readonly Figure[] = [
    { ...figure({ kind: 'ratio', most: 1.5, goal: 1.25 }, [180, 200, 260]), notes: ['one note'] },
    {
      what: 'bytes',
      unit: 'bytes',
      samples: [7863],
      bound: { kind: 'most', most: 20_480, goal: 16_384 },
    },
    { what: 'told', unit: 'MB', samples: [1.234, 2.345] },
  ];
  expect(renderTable(figures)).toMatchInlineSnapshot(`
    "what     median (min–max, n)     floor beside it          comes to     bound
    ----------------------------------------------------------------------------
    a thing  200 ms (180–260, 3)     100 ms (90–110, 3) bare  2.00 ×       ≤ 1.5 ×, in the end 1.25 ×               MISSED
        one note
    bytes    7,863 bytes             –                        7,863 bytes  ≤ 20,480 bytes, in the end 16,384 bytes  held
    told     1.79 MB (1.23–2.35, 2)  –                        –            none
    "
  `);
});
