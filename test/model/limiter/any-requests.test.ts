import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Permit } from '../../../src/model/limiter/permit.ts';
import type { ModelFailure } from '../../../src/protocol/model.ts';
import { ask, limited, LimiterWorld } from './world.ts';

type End = 'answered' | 'refused' | 'refused inside' | 'overloaded' | 'reset' | 'left';

/** One request: how its tries end, the last of them answered, and whether it is stopped at a time. */
interface Plan {
  readonly at: number;
  readonly tree: string;
  readonly background: boolean;
  readonly ends: readonly End[];
  readonly stopAt: number | null;
  /** What its task needs to get ready once it is told that it may go. */
  readonly readyMs: number;
  readonly turnMs: number;
}

const plans = fc.array(
  fc.record<Plan>({
    at: fc.nat(20_000),
    tree: fc.constantFrom('one', 'two'),
    background: fc.boolean(),
    ends: fc.array(fc.constantFrom('refused', 'refused inside', 'overloaded', 'reset', 'left'), {
      maxLength: 4,
    }),
    stopAt: fc.option(fc.nat(60_000), { freq: 3 }),
    readyMs: fc.constantFrom(0, 0, 500, 3_000),
    turnMs: fc.nat(4_000),
  }),
  { minLength: 1, maxLength: 30 },
);

const settings = fc.record({
  maxConcurrent: fc.integer({ min: 1, max: 8 }),
  requestsPerMinute: fc.constantFrom(0, 0, 5),
});

const FAILURES: Readonly<Partial<Record<End, ModelFailure>>> = {
  refused: limited(1_000),
  'refused inside': limited(),
  overloaded: { ...limited(), kind: 'overloaded', status: 529 },
  reset: { kind: 'connect', message: 'reset', retryable: true },
};

/** Sends requests as the engine does, and counts what is in flight. */
class Run {
  readonly world: LimiterWorld;
  readonly sent: number[] = [];
  most = 0;
  private inFlight = 0;

  constructor(world: LimiterWorld) {
    this.world = world;
  }

  async request(plan: Plan): Promise<'answered' | 'stopped'> {
    const { time } = this.world;
    await time.sleep(plan.at);
    const controller = new AbortController();
    const { stopAt } = plan;
    const stop = stopAt === null ? null : time.after(stopAt, () => controller.abort());
    const request = ask({ tree: plan.tree, background: plan.background });
    try {
      for (const end of [...plan.ends, 'answered' as const]) {
        const permit = await this.permit(request, plan, controller.signal);
        if (permit === null) return 'stopped';
        await this.send(permit, end, plan);
        if (controller.signal.aborted) return 'stopped';
      }
      return 'answered';
    } finally {
      stop?.cancel();
    }
  }

  private async permit(
    request: ReturnType<typeof ask>,
    { readyMs }: Plan,
    signal: AbortSignal,
  ): Promise<Permit | null> {
    const { limiter, time } = this.world;
    const permit = limiter.enter(request);
    if (permit !== null) return permit;
    const waiting = limiter.wait(request, signal);
    for (;;) {
      const { done, value } = await waiting.next();
      if (done === true) return value;
      if (value.type === 'admitted' && readyMs > 0) await time.sleep(readyMs);
    }
  }

  private async send(permit: Permit, end: End, { turnMs }: Plan): Promise<void> {
    this.inFlight += 1;
    this.most = Math.max(this.most, this.inFlight);
    this.sent.push(this.world.now);
    await this.world.time.sleep(turnMs);
    this.inFlight -= 1;
    if (end !== 'refused' && end !== 'overloaded') permit.observe({ type: 'accepted' });
    const failure = FAILURES[end];
    if (failure !== undefined) permit.observe({ type: 'failed', failure });
    permit.end();
  }
}

it('no request is forgotten and no slot is lost, whatever their outcome', async () => {
  await fc.assert(
    fc.asyncProperty(
      plans,
      settings,
      fc.infiniteStream(fc.nat(999)),
      async (all, limits, chance) => {
        const random = () => (chance.next().value ?? 0) / 1_000;
        const world = new LimiterWorld(limits, random);
        const run = new Run(world);
        const ends = await world.run(Promise.all(all.map((plan) => run.request(plan))));
        for (const [index, end] of ends.entries()) {
          if (end === 'stopped') expect(all[index]?.stopAt).not.toBeNull();
        }
        expect(run.most).toBeLessThanOrEqual(limits.maxConcurrent);
        const { requestsPerMinute } = limits;
        for (const [index, at] of run.sent.entries()) {
          const before = run.sent[index - requestsPerMinute];
          if (requestsPerMinute > 0 && before !== undefined)
            expect(Math.ceil(at - before)).toBeGreaterThanOrEqual(60_000);
        }
        expect(world.deadlines.size).toBe(0);
        await world.passUntil(world.now + 700_000);
        // To one lane and back forgets what was refused: as many go at once as ever.
        for (const maxConcurrent of [1, 8]) {
          world.limiter.configure({ maxConcurrent, requestsPerMinute: 0 });
        }
        for (let lane = 0; lane < 8; lane += 1) expect(world.limiter.enter(ask())).not.toBeNull();
        expect(world.limiter.enter(ask())).toBeNull();
      },
    ),
    { numRuns: 300 },
  );
});
