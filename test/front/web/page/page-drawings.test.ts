import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  axisMarks,
  drawLane,
  LANE_UNITS,
  sumSpans,
} from '../../../../src/front/web/page/model/time-scale.ts';
import {
  drawSteps,
  sumByModel,
  sumOverTime,
} from '../../../../src/front/web/page/model/usage-series.ts';
import type { TimelineSpan, UsagePoint } from '../../../../src/front/web/wire.ts';

const point = (at: number, more: Partial<UsagePoint> = {}): UsagePoint => ({
  at,
  task: 't',
  turn: 1,
  model: 'a/b',
  input: 10,
  output: 2,
  cacheRead: 5,
  cacheWrite: 1,
  costUsd: 0.5,
  isEstimated: false,
  ...more,
});

describe('the usage of a run', () => {
  it('is added up in the order of time', () => {
    expect(sumOverTime([point(20, { costUsd: null }), point(10)])).toEqual([
      { at: 10, input: 11, output: 2, cached: 5, costUsd: 0.5 },
      { at: 20, input: 22, output: 4, cached: 10, costUsd: 0.5 },
    ]);
  });

  it('is added up by model, the most expensive first', () => {
    const sums = sumByModel([
      point(1),
      point(2, { model: 'c/d', costUsd: 3 }),
      point(3, { costUsd: null }),
    ]);
    expect(sums).toEqual([
      { model: 'c/d', turns: 1, input: 11, output: 2, cached: 5, costUsd: 3, isUnpriced: false },
      { model: 'a/b', turns: 2, input: 22, output: 4, cached: 10, costUsd: 0.5, isUnpriced: true },
    ]);
  });

  it('is drawn as steps from the bottom to the end of the box', () => {
    const steps = sumOverTime([point(0), point(50), point(100)]);
    const path = drawSteps(
      steps,
      ({ input }) => input,
      { from: 0, to: 100, max: 33 },
      { width: 10, height: 30 },
    );
    expect(path).toBe('M0 30H0V20H5V10H10V0H10');
  });

  it('has a drawing of bounded length for any number of turns', () => {
    const steps = sumOverTime(Array.from({ length: 20_000 }, (_, at) => point(at)));
    const scale = { from: 0, to: 20_000, max: 220_000 };
    const path = drawSteps(steps, ({ input }) => input, scale, { width: 640, height: 150 });
    expect(path.length).toBeLessThan(20_000);
  });
});

describe('the marks of an axis', () => {
  it.each([
    [0, [0]],
    [Number.NaN, [0]],
    [10, [0, 5, 10]],
    [95_000, [0, 50_000]],
    [0.0312, [0, 0.02]],
  ])('of %d are %j', (max, marks) => {
    expect(axisMarks(max, 3)).toEqual(marks);
  });

  it('are few, and within the range', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-9, max: 1e15, noNaN: true }), (max) => {
        const marks = axisMarks(max, 4);
        expect(marks.length).toBeLessThanOrEqual(5);
        expect(marks.every((mark) => mark >= 0 && mark <= max)).toBe(true);
      }),
    );
  });
});

describe('the lane of a task', () => {
  const scale = { from: 0, to: 1_000 };
  it('has one path for each kind, and shows a span of any shortness', () => {
    const spans: readonly TimelineSpan[] = [
      ['model', 0, 500, ''],
      ['tool', 500, 500, 'Bash'],
      ['model', 600, 1_000, ''],
    ];
    expect(drawLane(spans, scale)).toEqual([
      { kind: 'model', path: 'M0 1h5000v12h-5000zM6000 1h4000v12h-4000z' },
      { kind: 'tool', path: 'M5000 7h1v6h-1z' },
    ]);
    expect(sumSpans(spans)).toEqual(
      new Map([
        ['model', 900],
        ['tool', 0],
      ]),
    );
  });

  it('stays in the drawing, and is short for any number of spans', () => {
    const spans = Array.from({ length: 50_000 }, (_, at): TimelineSpan => [
      'tool',
      at / 50,
      (at + 1) / 50,
      '',
    ]);
    const [lane] = drawLane([...spans, ['tool', -5_000, 9_000_000, '']], scale);
    expect(lane?.path.split('M').length).toBeLessThan(LANE_UNITS + 5);
    expect(
      lane?.path.match(/h(\d+)/g)?.every((width) => Number(width.slice(1)) <= LANE_UNITS),
    ).toBe(true);
  });
});
