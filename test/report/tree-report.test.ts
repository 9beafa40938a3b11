import { describe, expect, it } from 'vitest';
import {
  formatUsage,
  formatShortCount,
  formatShortDuration,
  formatUtc,
} from '../../src/report/figures.ts';
import { listReceiptRows } from '../../src/report/receipt-rows.ts';
import { createTreeReport } from '../../src/report/tree-report.ts';
import { formatTurnLines } from '../../src/report/turn-lines.ts';
import { NO_USAGE_TOTAL } from '../../src/protocol/state/ledger.ts';
import { turnEnded } from '../store/fixture-data.ts';
import {
  asked,
  BEGIN,
  child,
  ended,
  logOf,
  sourceOf,
  STARTED,
  CLAIMED,
  type Timed,
} from './logs.ts';
import type { TaskEvent } from '../../src/protocol/events/event.ts';

const NOW = { now: BEGIN + 1000 };

describe('the report of a tree', () => {
  it('shows each task below its parent, and tasks whose log is gone', () => {
    const logs = new Map([
      [
        'root',
        logOf('root', [
          [0, STARTED],
          [1, child('b')],
          [1, child('gone')],
          [90, ended()],
        ]),
      ],
      [
        'b',
        logOf(
          'b',
          [
            [5, STARTED],
            [6, child('c')],
            [80, ended()],
          ],
          { parent: 'root' },
        ),
      ],
      [
        'c',
        logOf('c', [
          [7, STARTED],
          [9, asked(1)],
          [70, turnEnded()],
          [71, ended()],
        ]),
      ],
    ]);
    const { rows, ...sums } = createTreeReport(sourceOf(logs), 'root', NOW);
    expect(rows.map(({ id, level, problem }) => [id, level, problem])).toEqual([
      ['root', 0, null],
      ['b', 1, null],
      ['c', 2, null],
      ['gone', 1, 'there is no task gone'],
    ]);
    expect(sums).toMatchObject({
      from: BEGIN,
      to: BEGIN + 90,
      reported: { answers: 1, costUsd: 0.25 },
      estimated: NO_USAGE_TOTAL,
    });
  });

  it('shows tasks that name each other as parents once', () => {
    const logs = new Map([
      ['a', logOf('a', [[0, child('b')]])],
      [
        'b',
        logOf('b', [
          [0, child('a')],
          [0, child('b')],
        ]),
      ],
    ]);
    const { rows } = createTreeReport(sourceOf(logs), 'a', NOW);
    expect(rows.map(({ id, report }) => [id, report?.status])).toEqual([
      ['a', 'interrupted'],
      ['b', 'interrupted'],
    ]);
  });

  it('throws for a missing task', () => {
    expect(() => createTreeReport(sourceOf(new Map()), 'a', NOW)).toThrow('there is no task a');
    expect(() => createTreeReport(sourceOf(new Map([['a', []]])), 'a', NOW)).toThrow(
      'specification (task.created) is missing',
    );
  });
});

it('turns are shown as a table, with estimates and repeats marked', () => {
  const failure = { kind: 'connect', message: 'reset\nby peer', retryable: true } as const;
  const usage = { input: 12_345, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
  const none = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
  const log = logOf('a', [
    [0, asked(1)],
    [5, { type: 'turn.retried', turn: 1, attempt: 1, failure, waitMs: 1, usage: none }],
    [900, turnEnded({ message: { role: 'assistant', content: [call('Read'), call('Read')] } })],
    [1000, asked(2)],
    [
      1500,
      { type: 'turn.failed', turn: 2, failure, usage: none, estimated: { usage, costUsd: null } },
    ],
    [2000, asked(3)],
  ]);
  const { rows } = createTreeReport(sourceOf(new Map([['a', log]]), ['a']), 'a', NOW);
  expect(formatTurnLines(rows[0]?.report?.turns ?? [], BEGIN)).toEqual([
    'turn      at    took      in  out  cached     cost  then',
    '   1  +0.000  0.90 s     105   20    1.0k  $0.2500  asked 2 times; Read × 2',
    '   2  +1.000  0.50 s  ~12.3k   ~1      ~0        ?  failed: reset by peer',
    '   3  +2.000                                        no end yet',
  ]);
});

function call(name: string) {
  return { type: 'tool_call', id: name, name, input: {} } as const;
}

it('a receipt is shown in lines, with short hashes, exit codes and moved files', () => {
  const hash = (sign: string) => sign.repeat(64);
  const facts = listReceiptRows({
    filesRead: [{ path: '/w/a', hash: hash('a') }],
    filesChanged: [
      { path: '/w/b', before: null, after: hash('b') },
      { path: '/w/d', before: hash('c'), after: null, movedFrom: '/w/c' },
    ],
    commands: [
      { command: 'npm  test\nx', exitCode: 1 },
      { command: 'y'.repeat(99), exitCode: null },
    ],
    shells: [{ id: 's1', command: 'serve', end: 'exited', exitCode: 0 }],
    children: ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'],
    childReceipts: {},
    refusals: ['Bash: denied'],
    models: ['x/y'],
    faults: [{ fault: 'connect', count: 2 }],
    endedBecause: 'it answered',
    claims: [{ kind: 'done', claim: 'All done', why: 'no tool was used' }],
  });
  expect(facts).toEqual([
    { name: 'read', items: ['aaaaaaaa  /w/a'] },
    {
      name: 'changed',
      items: ['nothing  → bbbbbbbb  /w/b', 'cccccccc → nothing   /w/d (moved from /w/c)'],
    },
    { name: 'commands', items: ['exit 1    npm test x', `signal    ${'y'.repeat(80)}…`] },
    { name: 'shells', items: ['s1 (serve): exited, exit code 0'] },
    { name: 'children', items: ['c1, c2, c3, c4, c5', 'c6'] },
    { name: 'refused', items: ['Bash: denied'] },
    { name: 'faults', items: ['connect × 2'] },
    { name: 'models', items: ['x/y'] },
    {
      name: 'claims',
      items: ['the log does not support this claim: "All done" (no tool was used)'],
    },
    { name: 'ended', items: ['it answered'] },
  ]);
});

it('figures are short, and say what is estimated or not known', () => {
  const one = { ...NO_USAGE_TOTAL, answers: 1, costUsd: 0.5 };
  expect(formatUsage({ reported: one, estimated: NO_USAGE_TOTAL })).toEqual({
    tokens: '0',
    cost: '$0.5000',
  });
  expect(formatUsage({ reported: one, estimated: { ...one, unpriced: 1 } })).toEqual({
    tokens: '~0',
    cost: '~≥$1.0000',
  });
  expect(formatUsage({ reported: { ...one, unpriced: 1 }, estimated: NO_USAGE_TOTAL }).cost).toBe(
    '?',
  );
  expect([999, 1000, 999_949, 999_950].map(formatShortCount)).toEqual([
    '999',
    '1.0k',
    '999.9k',
    '1.0M',
  ]);
  expect([5, 59_900, 60_000, 3_599_999, 7_450_000].map(formatShortDuration)).toEqual([
    '0.01 s',
    '59.9 s',
    '1:00',
    '1:00:00',
    '2:04:10',
  ]);
  expect([BEGIN, 1e300].map(formatUtc)).toEqual(['2026-03-01 12:00:00 UTC', 'no date']);
});

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
