import { stripVTControlCharacters } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { taskRow, type TreeTask } from '../../../../src/front/tui/model/task-row.ts';
import type { TaskTreeRow } from '../../../../src/front/tui/model/task-tree.ts';
import { visibleWidth } from '../../../../src/front/tui/view/fit.ts';
import { Pen } from '../../../../src/front/tui/view/pen.ts';
import { taskPane } from '../../../../src/front/tui/view/task-pane.ts';
import { PLAIN } from '../../../../src/front/tui/view/theme.ts';
import { LOG_VERSION } from '../../../../src/protocol/events/event.ts';
import { initialState } from '../../../../src/protocol/state/task-state.ts';
import { taskSpec } from '../../../store/fixture-data.ts';

const PEN = new Pen(PLAIN);

function row(id: string, change: Partial<TreeTask> = {}): TaskTreeRow {
  const spec = taskSpec(id, { parent: id === 'main' ? null : 'main' });
  const stamp = { v: LOG_VERSION, seq: 0, ts: 1, task: id, epoch: 1 };
  const base = taskRow(initialState({ ...stamp, type: 'task.created', spec }), 0);
  return {
    row: { ...base, status: 'running', endedAt: null, since: 0, ...change },
    level: id === 'main' ? 0 : 1,
    isBackground: false,
  };
}

const MAIN = row('main', { agent: 'main', model: 'scripted/one', mode: 'default' });
const WORKING: Partial<TreeTask> = {
  agent: 'Explore',
  description: 'retries in the mail package',
  activity: { kind: 'tools', running: ['Grep'], asking: [], since: 0 },
  turns: 12,
  tokens: 45_000,
  costUsd: 0.1234,
  model: 'scripted/one',
  mode: 'default',
};

function draw(rows: readonly TaskTreeRow[], width: number, style = {}): readonly string[] {
  const full = { width, height: rows.length, now: 9_000, chosen: null, dropped: 0, ...style };
  return taskPane(rows, full, PEN).map(stripVTControlCharacters);
}

describe('a row of the tree', () => {
  it.each([
    [40, '   ● Explore retries in … · Grep for 9 s'],
    [60, '   ● Explore child1 retries in the mail pack… · Grep for 9 s'],
    [80, '   ● Explore child1 retries in the mail package · Grep for 9 s                9s'],
    [
      100,
      '   ● Explore child1 retries in the mail package · Grep for 9 s      $0.1234 12 turns 45.0k tok    9s',
    ],
  ])('shows what the task does before its figures on %i columns', (width, line) => {
    const [, drawn = ''] = draw([MAIN, row('child1xx', WORKING)], width);
    expect(drawn.trimEnd()).toBe(line);
  });

  it('names the mode and the model where they differ from those of the main agent', () => {
    const other = row('child1xx', { ...WORKING, mode: 'plan', model: 'scripted/two' });
    expect(draw([MAIN, other], 140)[1]).toContain('plan scripted/two');
    expect(draw([MAIN, row('child1xx', WORKING)], 140)[1]).not.toContain('scripted/one');
    expect(draw([MAIN, other], 80)[1]).not.toContain('scripted/two');
  });

  it.each<readonly [string, Partial<TreeTask>, string]>([
    ['works', { endedAt: null }, '   ● Explore child1 [worktree] retries'],
    [
      'has left changes',
      { endedAt: 5, status: 'completed' },
      '   ✓ Explore child1 [worktree: 2 files changed] retries',
    ],
    [
      'has landed',
      { endedAt: 5, status: 'completed', landing: 'landed' },
      '   ✓ Explore child1 [worktree: landed] retries',
    ],
    [
      'has an open landing',
      { endedAt: 5, status: 'completed', landing: 'unfinished' },
      '   ✓ Explore child1 [worktree: landing not finished] retries',
    ],
  ])('marks a task with a worktree that %s', (_, change, line) => {
    const workspace = { kind: 'worktree', branch: 'muster/a/b', state: '2 files changed' } as const;
    const drawn = draw([MAIN, row('child1xx', { ...WORKING, workspace, ...change })], 120)[1] ?? '';
    expect(drawn.slice(0, line.length)).toBe(line);
  });

  it('counts the findings that a task has posted', () => {
    const posted = row('child1xx', { ...WORKING, findingCount: 3 });
    expect(draw([MAIN, posted], 120)[1]).toContain('Explore child1 [3 findings] retries');
    expect(draw([MAIN, posted], 40)[1]).not.toContain('finding');
  });

  it('shows the last line of an answer only in columns that are left', () => {
    const said = row('child1xx', { ...WORKING, lastLine: 'The limit is in three places.' });
    expect(draw([MAIN, said], 140)[1]).toContain('“The limit is in');
    expect(draw([MAIN, said], 80)[1]).toContain('retries in the mail package · Grep for 9 s');
    expect(draw([MAIN, said], 72)[1]).not.toContain('“');
  });

  it('is never wider than the terminal', () => {
    const change = fc.record({
      description: fc.string({ maxLength: 120 }),
      lastLine: fc.string({ maxLength: 120 }),
      model: fc.string({ maxLength: 40 }),
      turns: fc.nat(2_000),
      tokens: fc.nat(90_000_000),
      costUsd: fc.constantFrom(null, 0, 0.01, 123.4),
    });
    fc.assert(
      fc.property(change, fc.integer({ min: 1, max: 240 }), (fields, width) => {
        for (const line of draw([MAIN, row('child1xx', { ...WORKING, ...fields })], width)) {
          expect(visibleWidth(line)).toBeLessThanOrEqual(width);
        }
      }),
    );
  });
});

describe('the tree with the focus', () => {
  const ids = Array.from({ length: 40 }, (_, index) => `child${String(index).padStart(3, '0')}`);
  const rows = [MAIN, ...ids.map((id) => row(id, { ...WORKING, description: id }))];

  it('shows the selected task and the position, whichever task is selected', () => {
    for (const [index, { row: chosen }] of rows.entries()) {
      const lines = draw(rows, 80, { height: 6, chosen: chosen.id });
      expect(lines).toHaveLength(6);
      expect(lines.filter((line) => line.startsWith('▶'))).toHaveLength(1);
      const [, first = '', last = ''] = /… (\d+) to (\d+) of 41$/.exec(lines[5] ?? '') ?? [];
      expect(Number(last) - Number(first)).toBe(4);
      expect(Number(first)).toBeLessThanOrEqual(index + 1);
      expect(Number(last)).toBeGreaterThanOrEqual(index + 1);
    }
  });

  it('counts the tasks that are only in the logs', () => {
    const lines = draw(rows, 80, { height: 6, chosen: 'main', dropped: 9_400 });
    expect(lines[5]).toBe('  … 1 to 5 of 41, 9400 older in the logs');
  });
});
