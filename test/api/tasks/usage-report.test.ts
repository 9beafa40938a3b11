import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { USAGE_KEYS } from '../../../src/api/tasks/usage-keys.ts';
import { usageReport, type UsageQuery } from '../../../src/api/tasks/usage-report.ts';
import { formatCost, formatCount } from '../../../src/report/cost-text.ts';
import {
  addUsageTotals,
  NO_USAGE_TOTAL,
  type LedgerEntry,
} from '../../../src/protocol/state/ledger.ts';
import { NO_USAGE } from '../../../src/protocol/model.ts';
import type { TaskSummary } from '../../../src/store/task-store.ts';

function entry(change: Partial<LedgerEntry> = {}): LedgerEntry {
  return {
    day: '2026-11-20',
    model: 'a/one',
    isEstimated: false,
    answers: 1,
    usage: { ...NO_USAGE, input: 100, output: 10 },
    costUsd: 1,
    unpriced: 0,
    pricedBy: ['list'],
    ...change,
  };
}

function task(id: string, change: Partial<TaskSummary> = {}): TaskSummary {
  return {
    id,
    root: 'top',
    parent: id === 'top' ? null : 'top',
    depth: id === 'top' ? 0 : 1,
    agent: 'Explore',
    description: `about\n${id}`,
    status: 'completed',
    model: 'a/one',
    cwd: '/',
    source: 'model',
    created: 1,
    ended: 2,
    turns: 1,
    paidTokens: 110,
    costUsd: 1,
    ledger: [entry()],
    ...change,
  };
}

const TASKS: readonly TaskSummary[] = [
  task('top', { agent: 'main', ledger: [entry({ costUsd: 5 }), entry({ day: '2026-11-22' })] }),
  task('child'),
  task('grandchild', {
    parent: 'child',
    ledger: [entry({ model: 'a/new', costUsd: 0, unpriced: 1, pricedBy: [] })],
  }),
  task('broken', { ledger: [entry({ isEstimated: true, costUsd: 0.5 })] }),
  task('other', { root: 'other', parent: null, ledger: [] }),
];

const ALL: UsageQuery = { by: 'model', since: null, task: null };

function keysBy(query: Partial<UsageQuery>): readonly unknown[] {
  const { rows } = usageReport(TASKS, { ...ALL, ...query });
  return rows.map(({ key, tasks, reported, estimated }) => [
    key,
    tasks,
    reported.answers,
    reported.costUsd,
    estimated.answers,
  ]);
}

it('groups by each key, the costliest first and days in order', () => {
  expect(keysBy({ by: 'outcome' })).toEqual([['completed', 4, 4, 7, 1]]);
  expect(keysBy({ by: 'model' })).toEqual([
    ['a/one', 3, 3, 7, 1],
    ['a/new', 1, 1, 0, 0],
  ]);
  expect(keysBy({ by: 'type' })).toEqual([
    ['main', 1, 2, 6, 0],
    ['Explore', 3, 2, 1, 1],
  ]);
  expect(keysBy({ by: 'day' })).toEqual([
    ['2026-11-20', 4, 3, 6, 1],
    ['2026-11-22', 1, 1, 1, 0],
  ]);
  expect(keysBy({ by: 'tree' })).toEqual([['top', 4, 4, 7, 1]]);
  expect(keysBy({ by: 'task' })).toEqual([
    ['top', 1, 2, 6, 0],
    ['child', 1, 1, 1, 0],
    ['broken', 1, 0, 0, 1],
    ['grandchild', 1, 1, 0, 0],
  ]);
});

it('groups by combinations of keys, and splits a task by its models', () => {
  const ladder = task('ladder', {
    status: 'failed',
    ledger: [entry(), entry({ model: 'a/strong', costUsd: 3 })],
  });
  const { rows, by, total } = usageReport([...TASKS, ladder], {
    ...ALL,
    by: ['type', 'model', 'outcome'],
  });
  expect(by).toEqual(['type', 'model', 'outcome']);
  const values = rows.map(({ groups, tasks, reported, estimated }) => [
    groups.map(({ key }) => key).join(' '),
    tasks,
    reported.costUsd + estimated.costUsd,
  ]);
  expect(values).toEqual([
    ['main a/one completed', 1, 6],
    ['Explore a/strong failed', 1, 3],
    ['Explore a/one completed', 2, 1.5],
    ['Explore a/one failed', 1, 1],
    ['Explore a/new completed', 1, 0],
  ]);
  expect(rows[1]).toMatchObject({
    key: 'Explore, a/strong, failed',
    title: 'Explore, a/strong, failed',
    groups: [
      { by: 'type', key: 'Explore', title: 'Explore' },
      { by: 'model', key: 'a/strong', title: 'a/strong' },
      { by: 'outcome', key: 'failed', title: 'failed' },
    ],
  });
  expect(total.tasks).toBe(5);
});

it('lists days in order and the costliest of a day first, and names tasks by their descriptions', () => {
  const keys = (by: UsageQuery['by']) =>
    usageReport(TASKS, { ...ALL, by }).rows.map(({ key }) => key);
  expect(keys(['day', 'type'])).toEqual([
    '2026-11-20, main',
    '2026-11-20, Explore',
    '2026-11-22, main',
  ]);
  expect(keys(['type', 'day'])).toEqual([
    'main, 2026-11-20',
    'Explore, 2026-11-20',
    'main, 2026-11-22',
  ]);
  const [row] = usageReport(TASKS, { ...ALL, by: ['outcome', 'task'] }).rows;
  expect(row?.title).toBe('completed, main: about top');
});

const randomEntry = fc
  .record({
    day: fc.constantFrom('2026-11-20', '2026-11-21'),
    model: fc.constantFrom('a/one', 'a/two', 'b/one, a/two'),
    isEstimated: fc.boolean(),
    answers: fc.integer({ min: 1, max: 3 }),
    // Sixteenths of a dollar, which add up without rounding.
    sixteenths: fc.nat(100),
    unpriced: fc.nat(1),
    input: fc.nat(1000),
    output: fc.nat(1000),
  })
  .map(({ sixteenths, input, output, ...rest }) =>
    entry({ ...rest, costUsd: sixteenths / 16, usage: { ...NO_USAGE, input, output } }),
  );
const randomTask = fc.record({
  agent: fc.constantFrom('main', 'Explore', 'a'),
  status: fc.constantFrom('completed', 'partial', 'failed', 'running'),
  ledger: fc.array(randomEntry, { maxLength: 5 }),
});

it('the rows of any combination of keys add up to the total', () => {
  fc.assert(
    fc.property(
      fc.array(randomTask, { maxLength: 8 }),
      fc.subarray([...USAGE_KEYS], { minLength: 1 }),
      (changes, by) => {
        const tasks = changes.map((change, index) =>
          task(`task${index}`, change as Partial<TaskSummary>),
        );
        const { rows, total } = usageReport(tasks, { ...ALL, by });
        for (const kind of ['reported', 'estimated'] as const) {
          const sum = rows.reduce(
            (before, row) => addUsageTotals(before, row[kind]),
            NO_USAGE_TOTAL,
          );
          expect(sum).toEqual(total[kind]);
        }
        expect(new Set(rows.map(({ groups }) => JSON.stringify(groups))).size).toBe(rows.length);
      },
    ),
  );
});

it('counts a task with all its descendants, beginning with a given day', () => {
  expect(keysBy({ by: 'task', task: 'child' })).toEqual([
    ['child', 1, 1, 1, 0],
    ['grandchild', 1, 1, 0, 0],
  ]);
  expect(keysBy({ by: 'task', since: '2026-11-21' })).toEqual([['top', 1, 1, 1, 0]]);
  expect(keysBy({ since: '2026-11-23' })).toEqual([]);
});

it('names models without a known price and tasks without a known usage', () => {
  const report = usageReport([...TASKS, withoutLedger(task('old'))], ALL);
  expect([report.unpricedModels, report.unknownTasks]).toEqual([['a/new'], ['old']]);
  expect(usageReport(TASKS, { ...ALL, by: 'task' }).rows[0]?.title).toBe('main: about top');
});

it('ends for tasks that name each other as parents', () => {
  const circle = [task('a', { parent: 'b' }), task('b', { parent: 'a' })];
  expect(usageReport(circle, { ...ALL, task: 'a' }).total.tasks).toBe(2);
});

function withoutLedger(summary: TaskSummary): TaskSummary {
  const { ledger: _, ...rest } = summary;
  return rest;
}

it('states what is known about a cost', () => {
  const use = { ...NO_USAGE_TOTAL, answers: 2, costUsd: 0.25 };
  expect(formatCost(use)).toBe('$0.2500');
  expect(formatCost({ ...use, unpriced: 1 })).toBe('at least $0.2500');
  expect(formatCost({ ...use, unpriced: 2 })).toBe('unknown');
  expect(formatCost(NO_USAGE_TOTAL)).toBe('$0.0000');
  expect([0, 999, 1000, 1_234_567].map(formatCount)).toEqual(['0', '999', '1,000', '1,234,567']);
});
