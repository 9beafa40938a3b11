import { describe, expect, it } from 'vitest';
import { listedRows, type RowLimits } from '../../../../../src/front/cli/commands/tasks/rows.ts';
import type { TaskStatus } from '../../../../../src/protocol/result.ts';
import type { TaskSummary } from '../../../../../src/store/task-store.ts';

function task(id: string, parent: string | null, status: TaskStatus = 'completed'): TaskSummary {
  return {
    id,
    root: id,
    parent,
    depth: parent === null ? 0 : 1,
    agent: 'main',
    description: 'look',
    status,
    model: 'a/b',
    cwd: '/work',
    source: 'cli',
    created: 0,
    ended: null,
    turns: 0,
    paidTokens: 0,
    costUsd: 0,
  };
}

/** `a` with two children and a grandchild; `b` alone; `c` with one; the newest first. */
const TASKS = [
  task('c1', 'c'),
  task('c', null),
  task('b', null),
  task('a2', 'a'),
  task('a11', 'a1'),
  task('a1', 'a'),
  task('a', null),
];

function shown(tasks: readonly TaskSummary[], most: RowLimits | null) {
  const { rows, omitted: left } = listedRows(tasks, most);
  return [rows.map((row) => `${'.'.repeat(row.level)}${row.task.id}`).join(' '), left];
}

describe('the rows of a listing', () => {
  const none = { trees: 0, tasks: 0 };
  it.each([
    ['all', null, 'c .c1 b a .a1 ..a11 .a2', none],
    ['the newest trees', { trees: 2, rows: 100 }, 'c .c1 b', { trees: 1, tasks: 4 }],
    ['whole trees', { trees: 9, rows: 1 }, 'c .c1', { trees: 2, tasks: 5 }],
  ])('are %s', (_, most, rows, left) => {
    expect(shown(TASKS, most)).toEqual([rows, left]);
  });

  it('hold every tree that is at work', () => {
    const tasks = TASKS.map((one) => (one.id === 'a11' ? task('a11', 'a1', 'running') : one));
    const expected = ['c .c1 a .a1 ..a11 .a2', { trees: 1, tasks: 1 }];
    expect(shown(tasks, { trees: 1, rows: 100 })).toEqual(expected);
  });

  it('hold tasks that name each other as parents, once each', () => {
    const tasks = [task('d', null), task('x', 'y'), task('y', 'x'), task('z', 'z')];
    expect(shown(tasks, null)).toEqual(['d x .y z', none]);
  });

  it('start a new tree at a task whose parent is not listed', () => {
    const tasks = TASKS.filter(({ id }) => id !== 'a' && id !== 'c');
    expect(shown(tasks, null)).toEqual(['c1 b a2 a1 .a11', none]);
  });
});
