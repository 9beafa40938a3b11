import { expect, test } from 'vitest';
import { checkBound, type Bound, type Measurement } from '../../bench/harness/measurement.ts';
import { renderTable } from '../../bench/harness/table.ts';

function measurement(bound: Bound | undefined, samples: readonly number[]): Measurement {
  const base: Measurement = {
    title: 'a thing',
    unit: 'ms',
    samples,
    reference: { title: 'bare', samples: [90, 110, 100] },
  };
  return bound === undefined ? base : { ...base, bound };
}

test.each([
  [{ kind: 'ratio', max: 1.5, goal: 1.25 }, [150], { value: 1.5, isMet: true }],
  [{ kind: 'ratio', max: 1.5, goal: 1.25 }, [151], { value: 1.51, isMet: false }],
  [{ kind: 'difference', max: 40, goal: 20 }, [120, 140, 160], { value: 40, isMet: true }],
  [{ kind: 'difference', max: 40, goal: 20 }, [141], { value: 41, isMet: false }],
  [{ kind: 'max', max: 10, goal: 5 }, [10], { value: 10, isMet: true }],
  [{ kind: 'max', max: 10, goal: 5 }, [10.1], { value: 10.1, isMet: false }],
  [{ kind: 'min', min: 100 }, [100], { value: 100, isMet: true }],
  [{ kind: 'min', min: 100 }, [99.9], { value: 99.9, isMet: false }],
] as const)('%j with %j', (bound, samples, expected) => {
  expect(checkBound(measurement(bound, samples))).toEqual(expected);
});

test('a measurement without a bound is not checked', () => {
  expect(checkBound(measurement(undefined, [1]))).toBeNull();
});

test('a bound relative to a reference is missed without one', () => {
  const bound: Bound = { kind: 'ratio', max: 2, goal: 1 };
  const check = checkBound({ title: 'a thing', unit: 'ms', samples: [1], bound });
  expect(check).toEqual({ value: Number.NaN, isMet: false });
});

test('the table shows each measurement with its reference, its bound and its notes', () => {
  const measurements: readonly Measurement[] = [
    {
      ...measurement({ kind: 'ratio', max: 1.5, goal: 1.25 }, [180, 200, 260]),
      notes: ['one note'],
    },
    {
      title: 'bytes',
      unit: 'bytes',
      samples: [7863],
      bound: { kind: 'max', max: 20_480, goal: 16_384 },
    },
    { title: 'reported', unit: 'MB', samples: [1.234, 2.345] },
  ];
  expect(renderTable(measurements)).toMatchInlineSnapshot(`
    "measurement  median (min–max, n)     reference                result       bound
    --------------------------------------------------------------------------------
    a thing      200 ms (180–260, 3)     100 ms (90–110, 3) bare  2.00 ×       ≤ 1.5 ×, goal 1.25 ×               MISSED
        one note
    bytes        7,863 bytes             –                        7,863 bytes  ≤ 20,480 bytes, goal 16,384 bytes  met
    reported     1.79 MB (1.23–2.35, 2)  –                        –            none
    "
  `);
});

test('with a baseline build the table shows its values and the ratio', () => {
  const costs = { unit: 'ms', reference: { title: 'bare', samples: [50, 50] } } as const;
  const rounds = [100, 102, 104, 106, 108, 110];
  expect(
    renderTable([
      { ...costs, title: 'slower', samples: rounds.map((ms) => ms * 1.2), baseline: rounds },
      { ...costs, title: 'faster', samples: rounds.map((ms) => ms * 0.5), baseline: rounds },
      { ...costs, title: 'equal', samples: rounds, baseline: rounds.toReversed() },
      { ...costs, title: 'few', samples: [1, 2], baseline: [2, 4] },
      { title: 'not compared', unit: 'MB', samples: [7] },
    ]),
  ).toMatchInlineSnapshot(`
    "measurement   median (min–max, n)  baseline build       new / baseline (95 % interval)           reference              result  bound
    -------------------------------------------------------------------------------------------------------------------------------------
    slower        126 ms (120–132, 6)  105 ms (100–110, 6)  1.20 × (1.20–1.20) worse                 50 ms (50–50, 2) bare  2.52 ×  none
    faster        52.5 ms (50–55, 6)   105 ms (100–110, 6)  0.50 × (0.50–0.50) better                50 ms (50–50, 2) bare  1.05 ×  none
    equal         105 ms (100–110, 6)  105 ms (100–110, 6)  1.00 × (0.91–1.10) no clear difference   50 ms (50–50, 2) bare  2.10 ×  none
    few           1.50 ms (1–2, 2)     3 ms (2–4, 2)        0.50 × (too few rounds for an interval)  50 ms (50–50, 2) bare  0.03 ×  none
    not compared  7 MB                 –                    –                                        –                      –       none
    "
  `);
});
