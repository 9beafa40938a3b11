import { findPhase, type Phase } from '../../src/report/timeline.ts';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sumTimeByKind, type Span } from '../../src/report/span.ts';
import { TaskReportFold } from '../../src/report/task-report.ts';
import type { Activity } from '../../src/protocol/state/activity.ts';
import type { TaskStatus } from '../../src/protocol/result.ts';
import { turnEnded } from '../store/fixture-data.ts';
import {
  asked,
  BEGIN,
  called,
  CLAIMED,
  ended,
  logOf,
  returned,
  STARTED,
  type Timed,
} from './logs.ts';

const tools = (running: readonly string[], asking: readonly string[] = []): Activity => ({
  kind: 'tools',
  running,
  asking,
  since: null,
});

it.each<[TaskStatus, Activity, Phase | null]>([
  ['queued', { kind: 'idle' }, { kind: 'slot', detail: '' }],
  ['running', { kind: 'idle' }, null],
  ['running', { kind: 'connecting' }, { kind: 'model', detail: '' }],
  ['running', { kind: 'streaming' }, { kind: 'model', detail: '' }],
  ['running', { kind: 'waiting_for_first_token', since: 1 }, { kind: 'model', detail: '' }],
  ['running', { kind: 'stalled', since: 1 }, { kind: 'model', detail: 'stalled' }],
  ['running', { kind: 'waiting_to_retry', because: 'reset' }, { kind: 'retry', detail: 'reset' }],
  [
    'running',
    { kind: 'held', because: 'the rate limit of x', untilMs: null },
    { kind: 'held', detail: 'the rate limit of x' },
  ],
  ['running', { kind: 'waiting_for_children' }, { kind: 'children', detail: '' }],
  ['running', tools(['Task', 'Task']), { kind: 'children', detail: '' }],
  ['running', tools(['Task', 'Bash', 'Bash']), { kind: 'tool', detail: 'Bash' }],
  ['running', tools(['Task'], ['Bash']), { kind: 'person', detail: 'Bash' }],
  ['running', tools(['AskUser']), { kind: 'person', detail: '' }],
  ['parked', tools([], ['Bash']), { kind: 'person', detail: 'parked' }],
  ['completed', { kind: 'idle' }, null],
])('%s, %j: %j', (status, activity, phase) => {
  expect(findPhase({ status, activity, openChildren: new Set() })).toEqual(phase);
});

function reportOf(events: readonly Timed[], at: { isOwned?: boolean; now?: number } = {}) {
  const log = logOf('task00000000', events);
  const fold = new TaskReportFold((visit) => log.forEach(visit));
  log.forEach(fold.add);
  return fold.report({ isOwned: at.isOwned ?? false, now: BEGIN + (at.now ?? 0), landing: 'gone' });
}

function span(kind: Span['kind'], from: number, to: number, detail = ''): Span {
  return { kind, detail, from: BEGIN + from, to: BEGIN + to };
}

const TURN: readonly Timed[] = [
  [0, CLAIMED],
  [10, STARTED],
  [10, asked(1)],
  [14, { type: 'turn.held', turn: 1, because: 'the rate limit of x', untilMs: null }],
  [40, { type: 'turn.accepted', turn: 1 }],
  [60, turnEnded()],
  [60, called('c1', 'Bash')],
];

describe('the timeline of a task', () => {
  it('shows what it was doing, and until when', () => {
    const report = reportOf([...TURN, [90, returned('c1', 'Bash')], [95, ended()]]);
    expect(report?.spans).toEqual([
      span('slot', 0, 10),
      span('model', 10, 14),
      span('held', 14, 40, 'the rate limit of x'),
      span('model', 40, 60),
      span('tool', 60, 90, 'Bash'),
    ]);
    expect(report).toMatchObject({ status: 'completed', until: BEGIN + 95, events: 10 });
    expect(sumTimeByKind(report?.spans ?? [])).toEqual([
      { kind: 'slot', ms: 10 },
      { kind: 'model', ms: 24 },
      { kind: 'held', ms: 26 },
      { kind: 'tool', ms: 30 },
    ]);
  });

  it('of a running task ends now, and that of an interrupted task at its last event', () => {
    const working = reportOf(TURN, { isOwned: true, now: 500 });
    expect([working?.status, working?.spans.at(-1)]).toEqual([
      'running',
      span('tool', 60, 500, 'Bash'),
    ]);
    const broken = reportOf(TURN, { now: 500 });
    expect([broken?.status, broken?.until]).toEqual(['interrupted', BEGIN + 60]);
    expect(broken?.spans.at(-1)).toEqual(span('model', 40, 60));
  });

  it('shows when nobody worked on it', () => {
    const report = reportOf([...TURN, [1000, CLAIMED, 2], [1010, STARTED, 2], [1020, ended(), 2]]);
    expect(report?.spans.slice(4)).toEqual([span('away', 60, 1000), span('slot', 1000, 1010)]);
  });

  it('shows nothing between an end and a resume', () => {
    const resumed: Timed = [500, { type: 'task.resumed', by: 'user', callId: null }, 2];
    const report = reportOf([
      ...TURN,
      [90, returned('c1', 'Bash')],
      [95, ended()],
      [500, CLAIMED, 2],
      resumed,
      [505, STARTED, 2],
      [600, ended(), 2],
    ]);
    expect(report?.spans.slice(5)).toEqual([span('slot', 500, 505)]);
  });

  it('never goes back, whatever a log says', () => {
    const bodies = [
      CLAIMED,
      STARTED,
      asked(1),
      turnEnded(),
      called('c', 'Read'),
      returned('c', 'Read'),
      ended(),
    ];
    const events = fc.array(
      fc.tuple(
        fc.integer({ min: -50, max: 50 }),
        fc.constantFrom(...bodies),
        fc.constantFrom(1, 2),
      ),
    );
    fc.assert(
      fc.property(events, (timed) => {
        const report = reportOf(timed, { isOwned: true, now: 60 });
        let last = -Infinity;
        for (const { from, to } of report?.spans ?? []) {
          expect(to).toBeGreaterThan(from);
          expect(from).toBeGreaterThanOrEqual(last);
          last = to;
        }
      }),
    );
  });
});
