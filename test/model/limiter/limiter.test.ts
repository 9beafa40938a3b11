import { describe, expect, it } from 'vitest';
import type { Permit } from '../../../src/model/limiter/permit.ts';
import type { ModelPart, ModelRequest } from '../../../src/protocol/model.ts';
import { ask, limited, LimiterWorld } from './world.ts';

const EPOCH = 1_700_000_000_000;

/** Lets one go that must not have to wait. */
function enter(world: LimiterWorld, request: ModelRequest = ask()): Permit {
  const permit = world.limiter.enter(request);
  if (permit === null) throw new Error('it would have to wait');
  return permit;
}

function refuse(permit: Permit, retryAfterMs?: number): void {
  permit.observe({ type: 'failed', failure: limited(retryAfterMs) });
}

describe('without any rate limit', () => {
  it('all requests are sent at once, and no timer is set', () => {
    const world = new LimiterWorld({ maxConcurrent: 1_000 });
    for (let n = 0; n < 1_000; n += 1) enter(world).observe({ type: 'accepted' });
    expect(world.deadlines.size).toBe(0);
    expect(world.limiter.enter(ask())).toBeNull();
  });

  it('a request above the limit waits without a report', async () => {
    const world = new LimiterWorld({ maxConcurrent: 1 });
    const first = enter(world);
    const told: ModelPart[] = [];
    const second = world.admit(ask(), { told: (part) => void told.push(part) });
    first.end();
    first.end();
    expect(await second).not.toBeNull();
    expect(told).toEqual([]);
    expect(world.limiter.enter(ask())).toBeNull();
  });
});

describe('a refusal', () => {
  it('holds all requests until its time, and reports it', async () => {
    const world = new LimiterWorld();
    const request = ask();
    refuse(enter(world, request), 5_000);
    const told: ModelPart[] = [];
    const other = world.admit(ask(), { told: (part) => void told.push(part) });
    const again = world.admit(request, { told: (part) => void told.push(part) });
    await world.run(Promise.race([other, again]));
    expect(world.now).toBe(5_000);
    const untilMs = EPOCH + 5_000;
    expect(told).toEqual([
      { type: 'held', because: 'the rate limit of fake (HTTP 429)', untilMs },
      { type: 'held', because: 'the rate limit of fake', untilMs },
      { type: 'admitted' },
    ]);
    (await Promise.race([other, again]))?.end();
    await world.run(Promise.all([other, again]));
    expect(world.deadlines.size).toBe(0);
  });

  it('a spent quota holds no request', () => {
    const world = new LimiterWorld();
    enter(world).observe({ type: 'failed', failure: { ...limited(5_000), retryable: false } });
    enter(world);
  });

  it('an overloaded server pauses all requests too', async () => {
    const world = new LimiterWorld();
    const failure = { ...limited(), kind: 'overloaded', status: 529 } as const;
    enter(world).observe({ type: 'failed', failure });
    const told: ModelPart[] = [];
    await world.run(world.admit(ask(), { told: (part) => void told.push(part) }));
    expect(told[0]).toMatchObject({ because: 'fake, which is overloaded (HTTP 529)' });
    expect(world.now).toBe(250);
  });

  it('an overloaded server pauses all requests for the time that it states', async () => {
    const world = new LimiterWorld();
    const failure = { ...limited(300_000), kind: 'overloaded', status: 503 } as const;
    enter(world).observe({ type: 'failed', failure });
    await world.run(world.admit(ask()));
    expect(world.now).toBe(300_000);
  });

  it('of one request while others are accepted holds only that request', async () => {
    const world = new LimiterWorld();
    const poor = ask();
    const others = [enter(world), enter(world)];
    refuse(enter(world, poor), 1_000);
    await world.passUntil(1_000);
    others[0]?.end();
    const next = await world.run(world.admit(ask()));
    next?.observe({ type: 'accepted' });
    others[1]?.end();
    const again = await world.run(world.admit(poor));
    if (again === null) throw new Error('stopped');
    refuse(again, 60_000);
    // As many at a time as before, at once.
    enter(world).end();
    next?.end();
  });

  it('inside an answer holds its request longer each time too', async () => {
    const world = new LimiterWorld();
    const request = ask();
    const sent: number[] = [];
    for (let tries = 0; tries < 9; tries += 1) {
      const permit = await world.run(world.admit(request));
      sent.push(world.now);
      permit?.observe({ type: 'accepted' });
      permit?.observe({ type: 'failed', failure: limited() });
    }
    const waits = sent.slice(1).map((at, index) => at - (sent[index] ?? 0));
    expect(waits).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000]);
  });

  it.each([1_000_000, 1e300, Infinity])('of %d s waits ten minutes', async (seconds) => {
    const world = new LimiterWorld();
    refuse(enter(world), seconds * 1000);
    await world.run(world.admit(ask()));
    expect(world.now).toBe(600_000);
  });
});

describe('headers that say that a limit is used up', () => {
  it('hold later requests until their reset', async () => {
    const world = new LimiterWorld();
    const permit = enter(world);
    permit.responded(
      new Headers({ 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '7s' }),
    );
    permit.observe({ type: 'accepted' });
    permit.end();
    const told: ModelPart[] = [];
    await world.run(world.admit(ask(), { told: (part) => void told.push(part) }));
    expect(world.now).toBe(7_000);
    expect(told[0]).toEqual({
      type: 'held',
      because: 'the rate limit of fake: no tokens are left',
      untilMs: EPOCH + 7_000,
    });
  });
});

describe('requests_per_minute', () => {
  it('admits no more requests in any minute', async () => {
    const world = new LimiterWorld({ requestsPerMinute: 3 });
    const sent: number[] = [];
    const told: ModelPart[] = [];
    const one = async (): Promise<void> => {
      const permit = await world.admit(ask(), { told: (part) => void told.push(part) });
      sent.push(world.now);
      permit?.end();
    };
    await world.run(Promise.all(Array.from({ length: 8 }, one)));
    expect(sent).toEqual([0, 0, 0, 60_000, 60_000, 60_000, 120_000, 120_000]);
    expect(told[0]).toEqual({
      type: 'held',
      because: 'requests_per_minute = 3 of fake',
      untilMs: EPOCH + 60_000,
    });
    expect(world.deadlines.size).toBe(0);
  });
});

describe('a request that was notified of a rate limit', () => {
  async function held() {
    const world = new LimiterWorld({ maxConcurrent: 1 });
    refuse(enter(world), 1_000);
    const controller = new AbortController();
    const waiting = world.limiter.wait(ask(), controller.signal);
    expect((await waiting.next()).value).toMatchObject({ type: 'held' });
    expect((await world.run(waiting.next())).value).toEqual({ type: 'admitted' });
    return { world, waiting, controller };
  }

  it('has a reserved slot until it is ready', async () => {
    const { world, waiting } = await held();
    expect(world.limiter.enter(ask())).toBeNull();
    const { done, value } = await waiting.next();
    expect([done, typeof value]).toEqual([true, 'object']);
  });

  it('does not keep a slot from others for long, and then waits again', async () => {
    const { world, waiting } = await held();
    await world.passUntil(2_100);
    const other = enter(world);
    const next = waiting.next();
    await world.passUntil(2_200);
    other.end();
    expect((await world.run(next)).done).toBe(true);
    expect(world.deadlines.size).toBe(0);
  });

  it.each([
    ['reads no further', async (waiting: AsyncGenerator) => void (await waiting.return(null))],
    ['is stopped', async (waiting: AsyncGenerator) => void (await waiting.next())],
  ])('leaves no slot in use when it %s', async (_, end) => {
    const { world, waiting, controller } = await held();
    controller.abort();
    await end(waiting);
    enter(world).end();
    expect(world.deadlines.size).toBe(0);
  });

  it('makes the requests that wait for its slot give way', async () => {
    const { world, waiting } = await held();
    const behind = world.limiter.wait(ask(), new AbortController().signal);
    expect((await behind.next()).value).toMatchObject({ type: 'held', untilMs: null });
    const { value } = await waiting.next();
    if (value === undefined || value === null || 'type' in value) throw new Error('no permit');
    value.end();
    expect((await behind.next()).value).toEqual({ type: 'admitted' });
    await behind.return(null);
  });
});

describe('a request that is stopped while it waits', () => {
  it('holds no slot', async () => {
    const world = new LimiterWorld({ maxConcurrent: 1 });
    const first = enter(world);
    const controller = new AbortController();
    const stopped = world.admit(ask(), { signal: controller.signal });
    const next = world.admit(ask());
    controller.abort();
    expect(await stopped).toBeNull();
    first.end();
    (await next)?.end();
    enter(world);
    expect(await world.admit(ask(), { signal: AbortSignal.abort() })).toBeNull();
  });

  it('holds no slot during a pause either, and no timer is set', async () => {
    const world = new LimiterWorld();
    refuse(enter(world), 60_000);
    const controller = new AbortController();
    const stopped = world.admit(ask(), { signal: controller.signal });
    await Promise.resolve();
    controller.abort();
    expect(await stopped).toBeNull();
    expect(world.deadlines.size).toBe(0);
  });
});

describe('order', () => {
  it('a foreground request is sent before fifty background requests', async () => {
    const world = new LimiterWorld({ maxConcurrent: 2 });
    const taken = [enter(world), enter(world)];
    const order: string[] = [];
    const wait = async (name: string, background: boolean): Promise<void> => {
      const permit = await world.admit(ask({ background }));
      order.push(name);
      permit?.end();
    };
    const all = Array.from({ length: 50 }, (_, n) => wait(`back ${n}`, true));
    all.push(wait('front', false));
    for (const permit of taken) permit.end();
    await Promise.all(all);
    expect(order[0]).toBe('front');
    expect(order.slice(1)).toEqual(Array.from({ length: 50 }, (_, n) => `back ${n}`));
  });

  it('two trees share the slots regardless of which came first', async () => {
    const world = new LimiterWorld({ maxConcurrent: 1 });
    const first = enter(world);
    const order: string[] = [];
    const wait = async (tree: string): Promise<void> => {
      const permit = await world.admit(ask({ tree }));
      order.push(tree);
      permit?.end();
    };
    const all = ['a', 'a', 'a', 'a', 'a', 'b', 'b', 'b'].map(wait);
    first.end();
    await Promise.all(all);
    expect(order.join('')).toBe('abababaa');
  });
});

it('a new configuration admits waiting requests', async () => {
  const world = new LimiterWorld({ maxConcurrent: 1 });
  enter(world);
  const second = world.admit(ask());
  world.limiter.configure({ maxConcurrent: 2, requestsPerMinute: 0 });
  expect(await second).not.toBeNull();
});
