import { describe, expect, it } from 'vitest';
import { LOG_VERSION, type EventBody, type TaskEvent } from '../../../src/protocol/events/event.ts';
import { taskAgeMs, steadyNow, steadyTime } from '../../../src/protocol/state/steady-time.ts';
import { taskSpec } from '../../store/fixture-data.ts';
import { foldEvents } from '../../../src/protocol/state/fold.ts';

/** A time of day in seconds, the shift of its clock in seconds, and the owner's number. */
type Stamp = readonly [at: number, shift?: number, epoch?: number];

const HOUR = 3_600;
const ID = 'task00000001';

/** The log of a task that is created, claimed, started, warned of something, and ended. */
function log(...stamps: readonly Stamp[]): readonly TaskEvent[] {
  const bodies: readonly EventBody[] = [
    { type: 'task.created', spec: taskSpec(ID) },
    { type: 'task.claimed', pid: 7, host: 'here' },
    { type: 'task.started' },
    { type: 'warning', message: 'hm' },
    {
      type: 'task.ended',
      end: { status: 'completed', error: null, by: null, because: 'it answered' },
      result: 'x',
    },
  ];
  return stamps.map(([at, shift = 0, epoch = 1], seq) =>
    Object.assign(
      { v: LOG_VERSION, seq, ts: at * 1_000, task: ID, epoch },
      shift === 0 ? {} : { clockShift: shift * 1_000 },
      bodies[seq],
    ),
  );
}

describe('how long a task has taken', () => {
  it.each<readonly [string, readonly Stamp[], number]>([
    ['without a change of the clock', [[0], [1], [2], [5], [9]], 9],
    ['when the clock was set forward', [[0], [1], [2], [HOUR + 5, HOUR], [HOUR + 9, HOUR]], 9],
    ['when the clock was set back', [[0], [1], [2], [5 - HOUR, -HOUR], [9 - HOUR, -HOUR]], 9],
    ['when the clock was set forward and back', [[0], [1], [2], [HOUR + 5, HOUR], [9]], 9],
    [
      'when its process began with a shifted clock',
      [
        [0, 8],
        [1, 8],
        [2, 8],
        [5, 8],
        [9, 8],
      ],
      9,
    ],
    ['in an older log, when the clock was set back', [[0], [1], [2], [5 - HOUR], [9 - HOUR]], 6],
    [
      'by two owners',
      [
        [0, 5],
        [1, 5],
        [2, 5],
        [20, 0, 2],
        [24, 0, 2],
      ],
      24,
    ],
    [
      'by two owners, when the clock was set back between them',
      [[0], [1], [2], [-9, 0, 2], [-5, 0, 2]],
      6,
    ],
  ])('%s', (_, stamps, seconds) => {
    const { lifetime } = foldEvents(log(...stamps));
    expect(lifetime).toMatchObject({
      elapsedMs: seconds * 1_000,
      startedMs: 2_000,
      endedMs: seconds * 1_000,
    });
  });
});

describe('the running time of a task as seen by another process', () => {
  const clock = (seconds: number) => ({ now: () => seconds * 1_000, monotonic: () => 0 });

  it.each<readonly [string, Stamp, number, number]>([
    ['without a change of the clock', [10], 14, 14],
    ['with a clock that was set forward', [HOUR + 10, HOUR], HOUR + 14, 14],
    ['with a clock that was set back', [10 - HOUR, -HOUR], 14 - HOUR, 14],
    ['with a clock that was set back since its newest event', [10], 3, 10],
  ])('%s', (_, newest, now, seconds) => {
    const { lifetime } = foldEvents(log([0], [1], [2], newest));
    expect(taskAgeMs(lifetime, clock(now))).toBe(seconds * 1_000);
    expect(steadyNow(lifetime, clock(now))).toBe(seconds * 1_000);
  });
});

it('the time at work of former owners does not jump with the clock', () => {
  const [created, claimed, started] = log([0], [1], [2]);
  const [, , , warned] = log([0], [1], [2], [HOUR + 9, HOUR]);
  const [, again] = log([0], [HOUR + 50, 0, 2]);
  if (!created || !claimed || !started || !warned || !again) throw new Error('no log');
  const { activation } = foldEvents([created, claimed, started, warned, { ...again, seq: 4 }]);
  expect(activation).toMatchObject({ workedMs: 7_000, since: (HOUR + 50) * 1_000 });
  expect(steadyTime(warned)).toBe(9_000);
});
