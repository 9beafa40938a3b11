import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { TaskEvent } from '../../src/protocol/events/event.ts';
import {
  firstUserText,
  toolResultRounds,
  WIRE_PROTOCOLS,
  type Answer,
  type RecordedRequest,
} from '../../src/testing/index.ts';
import { finishedSoon } from './ending.ts';
import { envelopeOf, eventsOf, startMuster } from './muster.ts';
import { clean, delegate, delegating, family, isPart, listed, tasks } from './tasks.ts';
import { lastResults, openWorld, type World } from './world.ts';

const JSON_RUN = ['-p', 'go', '--output-format', 'stream-json'] as const;

function refusal(retryAfterSeconds: number): Answer {
  return { fault: { kind: 'status', status: 429, retryAfterSeconds } };
}

/** Of a child: turns that look for something, then its answer. */
function turns(count: number, pace: Partial<Answer> = {}) {
  return (request: RecordedRequest): Answer => {
    const round = toolResultRounds(request);
    if (round === count - 1) return { text: 'the child is done', ...pace };
    return { toolCalls: [{ name: 'Glob', input: { pattern: `*.${round}` } }], ...pace };
  };
}

function children(count: number, input: Record<string, boolean | string> = {}) {
  return Array.from({ length: count }, (_, n) => delegate(`part ${n}`, input));
}

function held(events: readonly TaskEvent[]) {
  return events.filter((event) => event.type === 'turn.held');
}

describe.each(WIRE_PROTOCOLS)('more children than the server accepts, over %s', (protocol) => {
  it('all end, with few refusals', async () => {
    const answer = delegating(children(8), turns(3, { firstTokenMs: 60 }));
    await using world = await openWorld({
      protocol,
      script: (request) => (request.inFlight > 3 ? refusal(0.2) : answer(request)),
    });
    const run = await world.run([...JSON_RUN]);
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(lastResults(world.model).map(({ text }) => text.split('\n')[0])).toEqual(
      children(8).map(() => 'the child is done'),
    );
    const refused = world.model.requests.filter(({ outcome }) => outcome.status === 429);
    expect(world.model.requests.length - refused.length).toBe(2 + 8 * 3);
    // Five of the first eight, and a few before the first of them has told.
    expect(refused.length).toBeLessThanOrEqual(8);
    const events = eventsOf(run);
    expect(held(events).length).toBeGreaterThan(0);
    expect(events.filter(({ type }) => type === 'turn.retried').length).toBe(refused.length);
  });
});

describe.concurrent('a rate limit', () => {
  it('that never ends for one child ends this child by its own limit, and no other', async () => {
    const parts = children(6).map((part, n) =>
      n === 3 ? delegate('part 3', { subagent_type: 'poor' }) : part,
    );
    const answer = delegating(parts, turns(2, { firstTokenMs: 20 }));
    const isPoor = (request: RecordedRequest) =>
      isPart(request) && firstUserText(request).includes('part 3');
    await using world = await openWorld({
      script: (request) => (isPoor(request) ? refusal(0.1) : answer(request)),
      // Its own limit: on a machine under load the others take longer than that.
      files: {
        '.muster/agents/poor.md':
          '---\nname: poor\ndescription: x\ntools: Glob\nwall-seconds: 6\n---\nYou.\n',
      },
    });
    const run = await world.run([...JSON_RUN, '--trust-project']);
    expect(run.code).toBe(0);
    const ends = lastResults(world.model).map(({ text }) => text);
    for (const [child, text] of ends.entries()) {
      if (child === 3) {
        // At that moment it waits, or tries once more.
        expect(text).toMatch(
          /the limit task_wall_seconds = 6 is reached(?: while it waited for the rate limit of anthropic|\. It had found nothing yet)/,
        );
      } else expect(text).toMatch(/^the child is done\n/);
    }
    const tries = world.model.requests.filter(isPoor).length;
    expect(tries).toBeGreaterThan(1);
    expect(tries).toBeLessThan(20);
  });

  it('lets the foreground go first when fifty wait in the background', async () => {
    const background = children(50, { run_in_background: true });
    const answer = delegating(background, turns(1, { firstTokenMs: 30 }));
    await using world = await openWorld({ script: answer });
    const run = await world.run([...JSON_RUN], {
      env: { MUSTER_PROVIDER_MAX_CONCURRENT: '2', MUSTER_TASK_TOOL_MAX_PARALLEL: '60' },
    });
    expect([run.code, run.stderr]).toEqual([0, '']);
    const { requests } = world.model;
    const next = requests.findIndex((one) => !isPart(one) && toolResultRounds(one) === 1);
    expect(next).toBeGreaterThan(0);
    expect(next).toBeLessThan(15);
  });

  it('is shown wherever the task is shown, and a stop takes effect at once', async () => {
    await using world = await openWorld({ script: () => refusal(60) });
    const running = world.start(['-p', 'go', '--model', 'anthropic/claude-sonnet-4-5']);
    const root = await untilHeld(world);
    const waits = /waiting for the rate limit of anthropic until \d\d:\d\d:\d\d/;
    expect(clean(await tasks(world, 'show', root))).toMatch(
      new RegExp(`^status +running\\ndoing +${waits.source}$`, 'm'),
    );
    expect(JSON.parse(clean(await tasks(world, 'show', root, '--json')))).toMatchObject({
      activity: { kind: 'held', because: 'the rate limit of anthropic' },
    });
    expect(clean(await tasks(world, 'list'))).toMatch(
      /running .*\[waiting for the rate limit of anthropic until \d\d:\d\d:\d\d\]\n$/,
    );
    expect(clean(await tasks(world, 'log', root))).toMatch(
      /turn\.held +\{"turn":1,"because":"the rate limit of anthropic","untilMs":\d+\}/,
    );
    const watching = startMuster(world.sandbox, ['tasks', 'watch', root]);
    await once(watching.process.stdout ?? watching.process, 'data');
    expect(clean(await tasks(world, 'stop', root))).toMatch(/stopped/);
    expect((await watching.finished).stdout).toMatch(waits);
    const { code, stderr } = await finishedSoon(running.finished);
    expect(code).toBe(6);
    expect(stderr).toMatch(
      /^… main: waiting for the rate limit of anthropic until \d\d:\d\d:\d\d\n/,
    );
    expect(world.model.requests.length).toBe(1);
  });

  it('that the user has set with requests_per_minute is named as such', async () => {
    await using world = await openWorld({ script: delegating(children(1), turns(1)) });
    const running = world.start([...JSON_RUN], {
      env: { MUSTER_PROVIDER_REQUESTS_PER_MINUTE: '1' },
    });
    await untilHeld(world);
    running.process.kill('SIGTERM');
    const run = await finishedSoon(running.finished);
    expect(run.code).toBe(143);
    expect(held(eventsOf(run))).toMatchObject([
      { turn: 1, because: 'requests_per_minute = 1 of anthropic' },
    ]);
    expect(world.model.requests.length).toBe(1);
    expect(envelopeOf(run).data.status).toBe('stopped');
  });

  it('in the headers of an answer delays the next requests', async () => {
    const reset = new Date(Date.now() + 3_600_000).toISOString();
    const headers = {
      'anthropic-ratelimit-requests-remaining': '0',
      'anthropic-ratelimit-requests-reset': reset,
    };
    await using world = await openWorld({
      script: () => ({ fault: { kind: 'status', status: 500, headers } }),
    });
    const running = world.start([...JSON_RUN]);
    await untilHeld(world);
    running.process.kill('SIGTERM');
    const run = await finishedSoon(running.finished);
    const [hold] = held(eventsOf(run));
    expect(hold).toMatchObject({
      because: 'the rate limit of anthropic: no requests are left',
    });
    // Not for an hour: a minute and what chance adds.
    expect((hold?.untilMs ?? 0) - (hold?.ts ?? 0)).toBeLessThanOrEqual(66_000);
  });
});

describe.concurrent('a rate limit for longer than provider.max_wait_seconds', () => {
  const WHEN = String.raw`try again at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d, in`;

  it.each(WIRE_PROTOCOLS)(
    'ends a run at once, and says when to try again: %s',
    async (protocol) => {
      await using world = await openWorld({ protocol, script: () => refusal(5400) });
      const run = await world.run(['-p', 'go']);
      expect(run.code).toBe(1);
      expect(run.stderr).toMatch(
        new RegExp(
          `^muster: failed: PROVIDER_ERROR: .*HTTP 429: .* \\(${WHEN} 90 min: that is longer than the limit provider.max_wait_seconds = 300\\)\n$`,
        ),
      );
      expect(world.model.requests.length).toBe(1);
    },
  );

  it.each([500, 502, 503, 529])('is also reported for a server that answers %s', async (status) => {
    await using world = await openWorld({
      script: () => ({ fault: { kind: 'status', status, retryAfterSeconds: 5400 } }),
    });
    const run = await world.run(['-p', 'go']);
    expect(run.code).toBe(1);
    expect(run.stderr).toMatch(
      new RegExp(
        `HTTP ${status}: .* \\(${WHEN} 90 min: that is longer than the limit provider.max_wait_seconds = 300\\)\n$`,
      ),
    );
    expect(world.model.requests.length).toBe(1);
  });

  it('of an overloaded server is waited for if there is no limit', async () => {
    await using world = await openWorld({
      script: () => ({ fault: { kind: 'status', status: 503, retryAfterSeconds: 5400 } }),
    });
    const running = world.start([...JSON_RUN], { env: { MUSTER_PROVIDER_MAX_WAIT_SECONDS: '0' } });
    await untilRetried(world);
    running.process.kill('SIGTERM');
    const run = await finishedSoon(running.finished);
    expect(eventsOf(run).filter(({ type }) => type === 'turn.retried')).toMatchObject([
      { waitMs: 5_400_000 },
    ]);
    expect(world.model.requests.length).toBe(1);
  });

  it('ends a child of an unattended run, and all tasks that would wait for the same account', async () => {
    const answer = delegating(children(1), turns(1));
    await using world = await openWorld({
      script: (request) => (isPart(request) ? refusal(3600) : answer(request)),
    });
    const run = await world.run([...JSON_RUN]);
    expect(run.code).toBe(1);
    const end = eventsOf(run).find(({ type }) => type === 'task.ended');
    expect(JSON.stringify(end)).toMatch(new RegExp(`HTTP 429: .*${WHEN} 60 min`));
    expect(envelopeOf(run).error).toMatchObject({
      code: 'PROVIDER_ERROR',
      message: expect.stringMatching(
        new RegExp(
          `it would wait for the rate limit of anthropic.*${WHEN} .*max_wait_seconds = 300`,
        ),
      ),
      retryable: true,
    });
    // One of the main agent, one of its child.
    expect(world.model.requests.length).toBe(2);
  });

  it('counts all waits of one request together', async () => {
    await using world = await openWorld({ script: () => refusal(0.4) });
    const run = await world.run(['-p', 'go'], { env: { MUSTER_PROVIDER_MAX_WAIT_SECONDS: '1' } });
    expect(run.code).toBe(1);
    expect(run.stderr).toMatch(
      /that is in all longer than the limit provider\.max_wait_seconds = 1\)/,
    );
    expect(world.model.requests.length).toBe(3);
  });

  it('is waited for if there is no limit', async () => {
    await using world = await openWorld({ script: () => refusal(3600) });
    const running = world.start(['-p', 'go'], { env: { MUSTER_PROVIDER_MAX_WAIT_SECONDS: '0' } });
    await untilHeld(world);
    running.process.kill('SIGTERM');
    expect((await finishedSoon(running.finished)).code).toBe(143);
  });
});

/** Resolves once the main task waits to send its request again. */
async function untilRetried(world: World): Promise<void> {
  for (;;) {
    const [main] = await listed(world);
    if (main === undefined) continue;
    if (clean(await tasks(world, 'log', main.id)).includes('turn.retried')) return;
  }
}

/** The id of the main task, once something is held. */
async function untilHeld(world: World): Promise<string> {
  for (;;) {
    const all = await listed(world);
    if (all.some(({ heldBy }) => heldBy !== undefined)) return (await family(world)).root;
  }
}
