import { describe, expect, it } from 'vitest';
import type { TaskEvent } from '../../src/protocol/events/event.ts';
import { createTreeReport } from '../../src/report/tree-report.ts';
import { turnEnded } from '../store/fixture-data.ts';
import {
  asked,
  BEGIN,
  child,
  CLAIMED,
  ended,
  logOf,
  sourceOf,
  STARTED,
  type Timed,
} from './logs.ts';

const HOUR = 3_600_000;

/** A log whose clock is ahead of the monotonic one by `shift` from event `from` on. */
function shifted(log: readonly TaskEvent[], shift: number, from: number): readonly TaskEvent[] {
  return log.map((event) =>
    event.seq < from ? event : { ...event, ts: event.ts + shift, clockShift: shift },
  );
}

const ROOT: readonly Timed[] = [
  [0, CLAIMED],
  [10, STARTED],
  [20, asked(1)],
  [40, turnEnded({ turn: 1 })],
  [40, child('b')],
  [90, ended()],
];

const CHILD: readonly Timed[] = [
  [40, CLAIMED],
  [50, STARTED],
  [50, asked(1)],
  [80, turnEnded({ turn: 1 })],
  [80, ended()],
];

function reportOf(root: readonly TaskEvent[], below: readonly TaskEvent[], now: number) {
  const logs = new Map([
    ['root', root],
    ['b', below],
  ]);
  const { rows, from, to } = createTreeReport(sourceOf(logs), 'root', { now });
  const reports = rows.flatMap(({ report }) => report ?? []);
  return {
    from,
    to,
    tasks: reports.map(({ createdAt, until, spans, turns }) => ({
      createdAt,
      until,
      spans,
      turns,
    })),
  };
}

describe('a tree during which the wall clock was set', () => {
  const unchanged = reportOf(logOf('root', ROOT), logOf('b', CHILD, { parent: 'root' }), 0);

  it.each([
    ['forwards', HOUR],
    ['back', -HOUR],
  ])('%s is reported as if nobody had set it', (_, shift) => {
    const root = shifted(logOf('root', ROOT), shift, 3);
    const below = shifted(logOf('b', CHILD, { parent: 'root' }), shift, 0);
    expect(reportOf(root, below, 0)).toEqual(unchanged);
    expect(unchanged.to - unchanged.from).toBe(90);
  });

  it('before it began begins at the time that the clock had by then', () => {
    const root = shifted(logOf('root', ROOT), HOUR, 0);
    const below = shifted(logOf('b', CHILD, { parent: 'root' }), HOUR, 0);
    const { from, to, tasks } = reportOf(root, below, 0);
    expect([from, to, tasks[1]?.createdAt]).toEqual([
      BEGIN + HOUR,
      BEGIN + HOUR + 90,
      BEGIN + HOUR + 40,
    ]);
  });

  it('continues under another process at the time of the wall clock', () => {
    const later: readonly Timed[] = [
      ...ROOT.slice(0, 3),
      [HOUR + 60, { type: 'task.claimed', pid: 8, host: 'here' }, 2],
      [HOUR + 70, ended(), 2],
    ];
    const log = shifted(logOf('root', later), HOUR, 0).map((event) => {
      if (event.epoch === 1) return event;
      const { clockShift: _, ...rest } = event;
      return Object.assign(rest, { ts: event.ts - HOUR });
    });
    const { from, to } = reportOf(log, [], 0);
    expect([from, to]).toEqual([BEGIN + HOUR, BEGIN + HOUR + 70]);
  });

  it('is at work until now, by the clock of the process that reads it', () => {
    const log = shifted(logOf('root', ROOT.slice(0, 3)), HOUR, 2);
    const logs = new Map([['root', log]]);
    const { to } = createTreeReport(sourceOf(logs, ['root']), 'root', { now: BEGIN + HOUR + 500 });
    expect(to).toBe(BEGIN + 500);
  });
});
