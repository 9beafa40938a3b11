import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ask, LimitedServer, LimiterWorld } from './world.ts';

/** The same row of numbers in [0, 1) each time. */
function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const LANES = 3;
const TURN_MS = 2_000;

function worldWith(seed: number, isAcceptedEarly: boolean) {
  const random = chance(seed);
  const world = new LimiterWorld({}, random);
  const server = new LimitedServer(world, {
    lanes: () => LANES,
    turnMs: TURN_MS,
    retryAfterMs: 1_000,
    latencyMs: () => 1 + 4 * random(),
    isAcceptedEarly,
  });
  return { world, server };
}

describe('twelve tasks, of which the server accepts three at a time', () => {
  it('all are answered, almost nothing is refused after 10 s, and the slots are used', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        fc.boolean(),
        fc.integer({ min: 3, max: 40 }),
        async (seed, isAcceptedEarly, turns) => {
          const { world, server } = worldWith(seed, isAcceptedEarly);
          await world.run(Promise.all(Array.from({ length: 12 }, () => server.task(turns))));
          const ideal = (12 * turns * TURN_MS) / LANES;
          expect(world.now).toBeLessThanOrEqual(1.3 * ideal);
          expect(server.refusedAfter(10_000) / server.sentAfter(10_000)).toBeLessThanOrEqual(0.05);
          expect(world.deadlines.size).toBe(0);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('a request that is always refused does not delay the others', async () => {
    const { world, server } = worldWith(7, true);
    const turns = 8;
    const controller = new AbortController();
    const poor = async (): Promise<number> => {
      const request = ask();
      for (let tries = 0; ; tries += 1) {
        const permit = await world.admit(request, { signal: controller.signal });
        if (permit === null) return tries;
        await server.send(permit, { isRefused: true });
      }
    };
    const tries = poor();
    await world.run(Promise.all(Array.from({ length: 11 }, () => server.task(turns))));
    const ideal = (11 * turns * TURN_MS) / LANES;
    expect(world.now).toBeLessThanOrEqual(1.5 * ideal);
    controller.abort();
    expect(await world.run(tries)).toBeLessThan(20);
    expect(world.deadlines.size).toBe(0);
  });

  it('sends all at a time again soon after the server accepts them', async () => {
    const random = chance(3);
    const world = new LimiterWorld({}, random);
    const server = new LimitedServer(world, {
      lanes: (now) => (now < 30_000 ? LANES : Infinity),
      turnMs: TURN_MS,
      retryAfterMs: 1_000,
      latencyMs: () => 2,
      isAcceptedEarly: true,
    });
    await world.run(Promise.all(Array.from({ length: 40 }, () => server.task(15))));
    // What is left after half a minute goes 40 at a time, once that is known to be taken.
    expect(world.now).toBeLessThanOrEqual(30_000 + 30_000 + 40_000);
    expect(server.refusedAfter(30_100)).toBe(0);
  });
});
