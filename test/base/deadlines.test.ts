import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { pauseClockDuring } from '../../src/base/clock.ts';
import { startDeadline, Deadlines, PausableDeadline } from '../../src/base/deadlines.ts';
import { waitUntilPasses } from '../wait-until-passes.ts';

const clock = { now: () => Date.now(), monotonic: () => performance.now() };

describe('Deadlines', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('fires in order of time, each deadline once, whatever the order in which they were set', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 1000 }), { maxLength: 50 }), (waits) => {
        const deadlines = new Deadlines(clock);
        const fired: number[] = [];
        for (const wait of waits) deadlines.after(wait, () => void fired.push(wait));
        vi.advanceTimersByTime(1002);
        expect(fired).toEqual(waits.toSorted((a, b) => a - b));
        expect(deadlines.size).toBe(0);
      }),
    );
  });

  it('never fires a cancelled deadline, and keeps the rest', () => {
    const step = fc.record({ wait: fc.integer({ min: 1, max: 500 }), cancelled: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const deadlines = new Deadlines(clock);
        const fired: number[] = [];
        const made = steps.map((each, index) => ({
          ...each,
          deadline: deadlines.after(each.wait, () => void fired.push(index)),
        }));
        for (const { cancelled, deadline } of made) {
          if (cancelled) deadline.cancel();
          if (cancelled) deadline.cancel();
        }
        vi.advanceTimersByTime(502);
        const expected = steps.flatMap((each, index) => (each.cancelled ? [] : [index]));
        expect(fired.toSorted((a, b) => a - b)).toEqual(expected);
      }),
    );
  });

  it('uses one timer for all deadlines, and none when there is no deadline', () => {
    const deadlines = new Deadlines(clock);
    const made = Array.from({ length: 100 }, (_, index) => deadlines.after(1000 - index, () => {}));
    expect(vi.getTimerCount()).toBe(1);
    for (const deadline of made) deadline.cancel();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('lets a deadline set another and cancel a third while it fires', () => {
    const deadlines = new Deadlines(clock);
    const fired: string[] = [];
    const third = deadlines.after(20, () => void fired.push('third'));
    deadlines.after(10, () => {
      fired.push('first');
      third.cancel();
      deadlines.after(5, () => void fired.push('second'));
    });
    vi.advanceTimersByTime(100);
    expect(fired).toEqual(['first', 'second']);
  });
});

it('does not count the time during which the process was stopped', async () => {
  const fired: string[] = [];
  startDeadline(500, () => void fired.push('limit'));
  // All that is due comes in the next round of timers, but for what has time left.
  pauseClockDuring(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 700));
  await new Promise((resolve) => void setTimeout(resolve, 0));
  expect(fired).toEqual([]);
  await waitUntilPasses(() => {
    expect(fired).toEqual(['limit']);
  });
});

describe('a deadline that can be paused', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function start(ms: number) {
    const fired: number[] = [];
    const deadlines = new Deadlines(clock);
    const limit = new PausableDeadline(
      { deadlines, clock },
      ms,
      () => void fired.push(clock.now()),
    );
    return { fired, limit, deadlines };
  }

  const wait = (ms: number) => () => new Promise<void>((resolve) => void setTimeout(resolve, ms));

  it('does not count the time of waits', async () => {
    const { fired, limit } = start(100);
    await vi.advanceTimersByTimeAsync(60);
    const waiting = limit.pauseDuring(wait(1_000));
    await vi.advanceTimersByTimeAsync(1_000);
    await waiting;
    await vi.advanceTimersByTimeAsync(38);
    expect(fired).toEqual([]);
    await vi.advanceTimersByTimeAsync(4);
    expect(fired.length).toBe(1);
  });

  it('never fires after it was cancelled during a wait', async () => {
    const { fired, limit, deadlines } = start(100);
    const waiting = limit.pauseDuring(wait(50));
    limit.cancel();
    await vi.advanceTimersByTimeAsync(1_000);
    await waiting;
    expect([fired, deadlines.size]).toEqual([[], 0]);
  });
});
