import { describe, expect, it } from 'vitest';
import { systemClock, type Clock } from '../../../src/base/clock.ts';
import type { ModelRequest } from '../../../src/protocol/model.ts';
import { answeredRounds, testEngine, type EngineSetup } from '../support.ts';
import { call } from '../play.ts';

/** Noon in the time zone of this machine. */
const NOON = new Date(2026, 1, 27, 12).getTime();
const DAY_MS = 24 * 3_600_000;

class DayClock implements Clock {
  day = 0;

  now(): number {
    return NOON + this.day * DAY_MS;
  }

  monotonic(): number {
    return systemClock.monotonic();
  }
}

/** Returns all user texts and notices in a request, in order. */
function texts({ messages }: ModelRequest): readonly string[] {
  return messages.flatMap((message) =>
    message.role === 'user' ? message.content.map(({ text }) => text) : [],
  );
}

/** Runs a task that makes one call on each of these days. Returns its requests. */
async function requestsOn(days: readonly number[], setup: EngineSetup = {}) {
  const clock = new DayClock();
  const requests: ModelRequest[] = [];
  const test = testEngine(
    (request) => {
      requests.push(request);
      clock.day = days[requests.length] ?? clock.day;
      return answeredRounds(request) < days.length - 1
        ? { calls: [call('Bash', {})] }
        : { text: 'done' };
    },
    { ...setup, clock },
  );
  clock.day = days[0] ?? 0;
  await test.start('go').end.written;
  return { requests, test };
}

describe('a conversation that continues on another day', () => {
  it('gets the date once a day, at its end, and everything before stays unchanged', async () => {
    const { requests } = await requestsOn([0, 0, 1, 1, 2]);
    expect(requests[0]?.prefix.system.join('\n')).toContain('Date: 2026-02-27');
    const notices = [
      '<notice>It is 2026-02-28 now.</notice>',
      '<notice>It is 2026-03-01 now.</notice>',
    ];
    expect(requests.map(texts)).toEqual([
      ['go'],
      ['go'],
      ['go', notices[0]],
      ['go', notices[0]],
      ['go', ...notices],
    ]);
    for (const [index, later] of requests.slice(1).entries()) {
      const earlier = requests[index];
      expect(later.prefix).toBe(earlier?.prefix);
      expect(later.messages.slice(0, earlier?.messages.length)).toEqual(earlier?.messages);
    }
    expect(requests[2]?.messages.at(-1)).toEqual({
      role: 'user',
      content: [{ type: 'text', text: notices[0] }],
    });
  });

  it('gets no date when the clock is set back', async () => {
    const { requests } = await requestsOn([0, 1, 0, 1, -1]);
    expect(texts(requests.at(-1)!)).toEqual(['go', '<notice>It is 2026-02-28 now.</notice>']);
  });

  it('has the date in its log', async () => {
    const { test } = await requestsOn([0, 1]);
    const inputs = test.events.flatMap((event) =>
      event.type === 'input.queued' ? [event.input] : [],
    );
    expect(inputs).toEqual([
      {
        id: 'date-2026-02-28-turn-2',
        kind: 'notice',
        from: 'muster',
        text: '<notice>It is 2026-02-28 now.</notice>',
      },
    ]);
    expect(test.events[0]).toMatchObject({ type: 'task.created', spec: { date: '2026-02-27' } });
  });
});
