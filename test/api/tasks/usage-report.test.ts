import { expect, it } from 'vitest';
import { usageReport, type UsageQuery } from '../../../src/api/tasks/usage-report.ts';
import { formatCost, formatCount } from '../../../src/report/cost-text.ts';
import { NO_USAGE_TOTAL, type LedgerEntry } from '../../../src/protocol/state/ledger.ts';
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
