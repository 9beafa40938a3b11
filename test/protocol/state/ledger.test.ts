import { expect, it } from 'vitest';
import type { EventBody, TaskEvent } from '../../../src/protocol/events/event.ts';
import {
  addToLedger,
  knownCost,
  NO_USAGE_TOTAL,
  sumLedger,
  type Ledger,
  type LedgerEntry,
} from '../../../src/protocol/state/ledger.ts';
import { NO_USAGE, type Usage } from '../../../src/protocol/model.ts';
import { parseLedgerRows, formatLedgerRows } from '../../../src/store/index/task-index.ts';

const NOON = Date.UTC(2026, 10, 22, 12);
const USAGE: Usage = { input: 10, output: 5, cacheRead: 100, cacheWrite: 2, reasoning: 3 };
const FAILURE = { kind: 'malformed', message: 'broken', retryable: true } as const;
const ENTRY: LedgerEntry = {
  day: '2026-11-22',
  model: 'a/one',
  isEstimated: false,
  answers: 1,
  usage: USAGE,
  costUsd: 0.5,
  unpriced: 0,
  pricedBy: ['list 1'],
};

function ledgerOf(...bodies: readonly (readonly [number, EventBody])[]): Ledger {
  return bodies.reduce<Ledger>(
    (ledger, [ts, body]) =>
      addToLedger(ledger, { v: 3, seq: 0, ts, task: 't', epoch: 1, ...body }, 'a/spec'),
    [],
  );
}

function ended(change: Partial<Extract<TaskEvent, { type: 'turn.ended' }>> = {}): EventBody {
  return {
    type: 'turn.ended',
    turn: 1,
    message: { role: 'assistant', content: [] },
    usage: USAGE,
    costUsd: 0.5,
    pricedBy: 'list 1',
    reason: 'stop',
    model: 'a/one',
    ms: 1,
    ...change,
  };
}

function retried(change: Partial<Extract<TaskEvent, { type: 'turn.retried' }>> = {}): EventBody {
  const base = { type: 'turn.retried', turn: 1, attempt: 1, failure: FAILURE, waitMs: 1 } as const;
  return { ...base, usage: NO_USAGE, ...change };
}

it('adds up the usage of one day and model', () => {
  expect(
    ledgerOf(
      [NOON, ended()],
      [NOON + 1, ended({ pricedBy: 'list 2', costUsd: 0.25 })],
      [NOON, ended({ model: 'a/two' })],
      [NOON + 86_400_000, ended()],
    ),
  ).toEqual([
    {
      ...ENTRY,
      answers: 2,
      usage: { input: 20, output: 10, cacheRead: 200, cacheWrite: 4, reasoning: 6 },
      costUsd: 0.75,
      pricedBy: ['list 1', 'list 2'],
    },
    { ...ENTRY, model: 'a/two' },
    { ...ENTRY, day: '2026-11-23' },
  ]);
});

it('counts estimates separately, and leaves usage without a known price out of the cost', () => {
  const estimated = { usage: { ...NO_USAGE, input: 7 }, costUsd: 0.1 };
  const ledger = ledgerOf(
    [NOON, ended()],
    [NOON, ended({ costUsd: null })],
    [NOON, retried({ model: 'a/one', pricedBy: 'list 1', estimated })],
    [NOON, ended({ usage: NO_USAGE, costUsd: 0, estimated })],
  );
  const reported = sumLedger(ledger, { isEstimated: false });
  expect([reported.answers, reported.unpriced, reported.costUsd, knownCost(reported)]).toEqual([
    2,
    1,
    0.5,
    null,
  ]);
  expect(sumLedger(ledger, { isEstimated: true })).toEqual({
    answers: 2,
    usage: { ...NO_USAGE, input: 14 },
    costUsd: 0.2,
    unpriced: 0,
    pricedBy: ['list 1'],
  });
});

it('ignores answers without usage, and accepts older logs without model or cost', () => {
  expect(ledgerOf([NOON, retried()])).toEqual([]);
  expect(ledgerOf([NOON, { type: 'warning', message: 'x' }])).toEqual([]);
  expect(ledgerOf([NOON, retried({ usage: USAGE })])).toEqual([
    { ...ENTRY, model: 'a/spec', costUsd: 0, unpriced: 1, pricedBy: [] },
  ]);
});

it('ignores invalid values in a log', () => {
  const usage = { ...USAGE, input: -5, output: Number.NaN, cacheRead: Number.POSITIVE_INFINITY };
  expect(ledgerOf([NOON, ended({ usage, costUsd: -1 })])).toEqual([
    { ...ENTRY, usage: { ...NO_USAGE, cacheWrite: 2, reasoning: 3 }, costUsd: 0 },
  ]);
});

it.each([
  [-1, '1970-01-01'],
  [1e300, '9999-12-31'],
  [Number.NaN, '1970-01-01'],
])('is not hidden by a log that gives %d as a time', (ts, day) => {
  expect(ledgerOf([ts, ended()])).toEqual([{ ...ENTRY, day }]);
});

it('is stored in the index as short rows, and restored from them', () => {
  const ledger = [ENTRY, { ...ENTRY, isEstimated: true, pricedBy: [] }];
  expect(parseLedgerRows(JSON.parse(JSON.stringify(formatLedgerRows(ledger))))).toEqual(ledger);
  expect(parseLedgerRows([])).toEqual([]);
});

it.each([
  [undefined],
  [{}],
  [[null]],
  [[['day', 'a', 0, 1, [1, 2, 3, 4, 5], 0, 0, []]]],
  [[['2026-11-22', 1, 0, 1, [1, 2, 3, 4, 5], 0, 0, []]]],
  [[['2026-11-22', 'a', 0, -1, [1, 2, 3, 4, 5], 0, 0, []]]],
  [[['2026-11-22', 'a', 0, 1, [1, 2, 3, 4], 0, 0, []]]],
  [[['2026-11-22', 'a', 0, 1, 'x', 0, 0, []]]],
  [[['2026-11-22', 'a', 0, 1, [1, 2, 3, 4, 5], 0, 0]]],
])('is not read from %j', (rows) => {
  expect(parseLedgerRows(rows)).toBe(undefined);
});

it('of nothing is zero', () => {
  expect(sumLedger([], { isEstimated: false })).toEqual(NO_USAGE_TOTAL);
});
