import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Deadlines } from '../../src/base/deadlines.ts';
import { Batched } from '../../src/base/batched.ts';

const clock = { now: () => Date.now(), monotonic: () => performance.now() };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Work that takes `ms` each time, and when each began. */
function workOf(ms: number, fails: (time: number) => boolean = () => false) {
  const begun: number[] = [];
  const start = performance.now();
  const batched = new Batched({ clock, deadlines: new Deadlines(clock) }, () => {
    const time = begun.push(Math.round(performance.now() - start));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    setTimeout(() => (fails(time) ? reject(new Error(`time ${time}`)) : resolve()), ms);
    return promise;
  });
  return { begun, batched };
}

it('is done at once for the first, and together for those who ask meanwhile', async () => {
  const { begun, batched } = workOf(3);
  const asked = [batched.ask(), batched.ask(), batched.ask()];
  expect(begun).toEqual([0]);
  await vi.advanceTimersByTimeAsync(100);
  await Promise.all(asked);
  // Four times what it took is its rest.
  expect(begun).toEqual([0, 15]);
  void batched.ask();
  expect(begun).toEqual([0, 15, 100]);
});

it('rests for no longer than 25 ms, whatever it takes', async () => {
  const { begun, batched } = workOf(400);
  void batched.ask();
  void batched.ask();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(begun).toEqual([0, 425]);
});

it('does not rest from what took no time', async () => {
  const batched = new Batched({ clock, deadlines: new Deadlines(clock) }, async () => {});
  for (let time = 0; time < 100; time += 1) await batched.ask();
  expect(vi.getTimerCount()).toBe(0);
});

it('serves each who asks by work that begins after that, and never twice at the same time', async () => {
  const asks = fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(asks, fc.integer({ min: 0, max: 20 }), async (pauses, ms) => {
      const { begun, batched } = workOf(ms);
      const start = performance.now();
      const served: Promise<void>[] = [];
      for (const pause of pauses) {
        await vi.advanceTimersByTimeAsync(pause);
        const at = Math.round(performance.now() - start);
        const before = begun.length;
        const isServed = async () => {
          await batched.ask();
          const by = begun.findIndex((_, time) => time >= before);
          expect(begun[by]).toBeGreaterThanOrEqual(at);
          expect(begun[by]).toBeLessThanOrEqual(at + ms + 26);
        };
        served.push(isServed());
      }
      await vi.advanceTimersByTimeAsync(500);
      await Promise.all(served);
      for (const [time, at] of begun.slice(1).entries()) {
        expect(at - (begun[time] ?? 0)).toBeGreaterThanOrEqual(ms);
      }
    }),
    { numRuns: 60 },
  );
});

it('tells a failure to those whom it served, and works for the next', async () => {
  const { begun, batched } = workOf(2, (time) => time === 1);
  const told = [batched.ask(), batched.ask()].map((asked) =>
    asked.then(
      () => 'done',
      ({ message }: Error) => message,
    ),
  );
  await vi.advanceTimersByTimeAsync(50);
  expect(await Promise.all(told)).toEqual(['time 1', 'done']);
  expect(begun).toHaveLength(2);
});
