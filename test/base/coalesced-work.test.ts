import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { CoalescedWork } from '../../src/base/coalesced-work.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Work that takes `ms` each time, and when each began. */
function workOf(ms: number, fails: (time: number) => boolean = () => false) {
  const begun: number[] = [];
  const start = performance.now();
  const batched = new CoalescedWork(() => {
    const time = begun.push(Math.round(performance.now() - start));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    setTimeout(() => (fails(time) ? reject(new Error(`time ${time}`)) : resolve()), ms);
    return promise;
  });
  return { begun, batched };
}

it('is done at once for the first caller, and together for those who ask meanwhile', async () => {
  const { begun, batched } = workOf(3);
  const asked = [batched.request(), batched.request(), batched.request()];
  expect(begun).toEqual([0]);
  await vi.advanceTimersByTimeAsync(100);
  await Promise.all(asked);
  expect(begun).toEqual([0, 3]);
  void batched.request();
  expect(begun).toEqual([0, 3, 100]);
});

it('serves each caller by work that begins after the call, and never runs twice at the same time', async () => {
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
          await batched.request();
          const by = begun.findIndex((_, time) => time >= before);
          expect(begun[by]).toBeGreaterThanOrEqual(at);
          expect(begun[by]).toBeLessThanOrEqual(at + ms);
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

it('reports a failure to the callers that it served, and works for the next', async () => {
  const { begun, batched } = workOf(2, (time) => time === 1);
  const told = [batched.request(), batched.request()].map((asked) =>
    asked.then(
      () => 'done',
      ({ message }: Error) => message,
    ),
  );
  await vi.advanceTimersByTimeAsync(50);
  expect(await Promise.all(told)).toEqual(['time 1', 'done']);
  expect(begun).toHaveLength(2);
});
