import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  estimateFanOut,
  formatEstimate,
  type PricedTask,
} from '../../src/report/fan-out-estimate.ts';

const TASK: PricedTask = {
  agent: 'Explore',
  status: 'completed',
  model: 'scripted/one',
  turns: 3,
  costUsd: 0.01,
};
const FAN_OUT = { agent: 'Explore', count: 64, model: 'scripted/one' };

function tasks(costs: readonly (number | null)[], change: Partial<PricedTask> = {}) {
  return costs.map((costUsd) => Object.assign({}, TASK, { costUsd }, change));
}

describe('the estimate of a fan-out', () => {
  it('is the quartiles of the last tasks of the agent and model', () => {
    const all = [
      ...tasks([0.01, 0.02, 0.03, 0.04, 0.05]),
      ...tasks([9, 9, 9], { agent: 'Plan' }),
      ...tasks([9, 9, 9], { model: 'scripted/two' }),
    ];
    expect(estimateFanOut(all, FAN_OUT)).toEqual({
      lowUsd: 0.02 * 64,
      highUsd: 0.04 * 64,
      model: 'scripted/one',
      basis: 5,
    });
  });

  it.each<readonly [string, readonly PricedTask[]]>([
    ['there are no tasks', []],
    ['there are only four tasks', tasks([1, 1, 1, 1])],
    ['prices are not known', tasks([null, null, null, null, null])],
    ['the tasks failed', tasks([1, 1, 1, 1, 1], { status: 'failed' })],
    ['the results were reused', tasks([0, 0, 0, 0, 0], { reused: 'bbbbbbbbbbbb' })],
    ['the tasks had another model', tasks([1, 1, 1, 1, 1], { model: 'scripted/two' })],
  ])('is not given if %s', (_, all) => {
    expect(estimateFanOut(all, FAN_OUT)).toBe(null);
  });

  it('is for the model of the newest task of the agent if no model is given', () => {
    const all = [...tasks([1, 1, 1, 1, 1], { model: 'scripted/two' }), ...tasks([9, 9, 9, 9, 9])];
    expect(estimateFanOut(all, { ...FAN_OUT, model: null })).toMatchObject({
      lowUsd: 64,
      highUsd: 64,
      model: 'scripted/two',
    });
  });

  it('lies between the cheapest and the most expensive of at most 50 tasks', () => {
    const cost = fc.double({ min: 0, max: 100, noNaN: true });
    fc.assert(
      fc.property(fc.array(cost, { minLength: 5, maxLength: 120 }), (costs) => {
        const estimate = estimateFanOut(tasks(costs), { ...FAN_OUT, count: 1 });
        const used = costs.slice(0, 50);
        expect(estimate?.basis).toBe(used.length);
        const { lowUsd = -1, highUsd = -1 } = estimate ?? {};
        expect(lowUsd).toBeLessThanOrEqual(highUsd);
        expect(lowUsd).toBeGreaterThanOrEqual(Math.min(...used));
        expect(highUsd).toBeLessThanOrEqual(Math.max(...used));
      }),
    );
  });
});

it.each([
  [0.4, 1.1, '64 × Explore, about $0.40–1.10 (your last 23 with scripted/one)'],
  [0.4, 0.401, '64 × Explore, about $0.40 (your last 23 with scripted/one)'],
  [12.4, 40, '64 × Explore, about $12–40 (your last 23 with scripted/one)'],
  [0, 0.001, '64 × Explore, less than $0.01 (your last 23 with scripted/one)'],
])('an estimate of %d to %d is written as %s', (lowUsd, highUsd, text) => {
  const estimate = { lowUsd, highUsd, model: 'scripted/one', basis: 23 };
  expect(formatEstimate(FAN_OUT, estimate)).toBe(text);
});
