import { describe, expect, it } from 'vitest';
import { LOG_VERSION, type EventBody, type TaskEvent } from '../../../src/protocol/events/event.ts';
import { isTaskEvent } from '../../../src/store/log/validate-event.ts';
import { upgradeEvent } from '../../../src/store/log/upgrade-event.ts';
import { taskEnded, taskSpec, summarizeEvents } from '../fixture-data.ts';
import { foldEvents } from '../../../src/protocol/state/fold.ts';

const TASK = 'abcdefgh0123';
const HELD: EventBody = { type: 'turn.held', turn: 1, because: 'the rate limit', untilMs: 7 };
const HOLD = { because: 'the rate limit', untilMs: 7 };

function log(bodies: readonly EventBody[]): readonly TaskEvent[] {
  const whole: readonly EventBody[] = [{ type: 'task.created', spec: taskSpec(TASK) }, ...bodies];
  return whole.map((body, seq) =>
    Object.assign({ v: LOG_VERSION, seq, ts: seq, task: TASK, epoch: 1 }, body),
  );
}

const USAGE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
const FAILURE = { kind: 'rate_limit', message: 'no', retryable: true } as const;

it.each<[string, readonly EventBody[], object | undefined, string]>([
  ['held', [HELD], HOLD, 'held'],
  [
    'held again',
    [HELD, { ...HELD, because: 'more', untilMs: null }],
    { because: 'more', untilMs: null },
    'held',
  ],
  ['accepted after it', [HELD, { type: 'turn.accepted', turn: 1 }], undefined, 'streaming'],
  [
    'refused after it',
    [
      HELD,
      { type: 'turn.retried', turn: 1, attempt: 1, failure: FAILURE, waitMs: 0, usage: USAGE },
    ],
    undefined,
    'waiting_to_retry',
  ],
  [
    'given up',
    [HELD, { type: 'turn.failed', turn: 1, failure: FAILURE, usage: USAGE }],
    undefined,
    'idle',
  ],
  [
    'not started yet',
    [{ type: 'task.held', because: 'memory' }],
    { because: 'memory', untilMs: null },
    'held',
  ],
  [
    'started after it',
    [{ type: 'task.held', because: 'memory' }, { type: 'task.started' }],
    undefined,
    'idle',
  ],
  ['ended', [HELD, taskEnded('partial')], undefined, 'idle'],
])('a held request is listed after the task is %s', (_, bodies, heldBy, activity) => {
  const events = log(bodies);
  expect(summarizeEvents(events)?.heldBy).toEqual(heldBy);
  expect(foldEvents(events).activity.kind).toBe(activity);
});

describe('an event about a held request', () => {
  const stamp = { v: LOG_VERSION, seq: 1, ts: 1, task: TASK, epoch: 1 };
  it.each([
    [{ ...HELD }, true],
    [{ ...HELD, untilMs: null }, true],
    [{ ...HELD, because: { toString: 'x' } }, false],
    [{ ...HELD, untilMs: '9999' }, false],
    [{ type: 'task.held', because: 'memory' }, true],
    [{ type: 'task.held' }, false],
  ])('%j is one: %s', (body, is) => {
    expect(isTaskEvent({ ...stamp, ...body }, TASK)).toBe(is);
  });
});

it('reads events of version 3 unchanged', () => {
  const event = { v: 3, seq: 1, ts: 1, task: TASK, epoch: 1, type: 'turn.accepted', turn: 1 };
  expect(upgradeEvent(event)).toEqual(event);
  expect(isTaskEvent(event, TASK)).toBe(true);
});
