import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TaskRow } from '../../../../src/front/web/wire.ts';
import {
  createTreeMatcher,
  layOutTree,
  type TreeLine,
} from '../../../../src/front/web/page/model/task-tree.ts';
import { findByLetter, moveInTree } from '../../../../src/front/web/page/model/tree-movement.ts';

function row(id: string, parent: string | null, more: Partial<TaskRow> = {}): TaskRow {
  return {
    id,
    root: id,
    parent,
    depth: parent === null ? 0 : 1,
    agent: 'main',
    title: `Title of ${id}`,
    model: 'a/b',
    status: 'completed',
    cwd: '/',
    created: 0,
    ended: 1,
    turns: 0,
    calls: 0,
    paidTokens: 0,
    tokens: '0',
    costUsd: 0,
    cost: '?',
    doing: null,
    questions: [],
    reused: null,
    workspace: null,
    ...more,
  };
}

const toMap = (rows: readonly TaskRow[]) => new Map(rows.map((each) => [each.id, each]));
const short = (lines: readonly TreeLine[]) =>
  lines.map(
    ({ row: { id }, level, position, setSize, isOpen }) =>
      `${'-'.repeat(level)}${id} ${position}/${setSize}${isOpen === null ? '' : isOpen ? ' open' : ' closed'}`,
  );
const ALL = { isOpen: () => true, matches: null };

const FAMILY = toMap([
  row('old', null, { created: 1 }),
  row('new', null, { created: 9 }),
  row('b', 'new', { created: 3 }),
  row('a', 'new', { created: 2, status: 'running' }),
  row('a1', 'a', { created: 4, title: 'Needle' }),
  row('lost', 'gone', { created: 0 }),
]);

describe('the tree of tasks', () => {
  it('shows the newest tree first, children by creation, and lost children as trees of their own', () => {
    expect(short(layOutTree(FAMILY, ALL))).toEqual([
      '-new 1/3 open',
      '--a 1/2 open',
      '---a1 1/1',
      '--b 2/2',
      '-old 2/3',
      '-lost 3/3',
    ]);
  });

  it('leaves out the children of a closed task', () => {
    const lines = layOutTree(FAMILY, { isOpen: ({ id }) => id !== 'a', matches: null });
    expect(short(lines)).toEqual([
      '-new 1/3 open',
      '--a 1/2 closed',
      '--b 2/2',
      '-old 2/3',
      '-lost 3/3',
    ]);
  });

  it('shows what matches with all tasks above it, also below closed tasks', () => {
    const matches = createTreeMatcher('all', 'needle', new Map());
    const lines = layOutTree(FAMILY, { isOpen: () => false, matches });
    expect(short(lines)).toEqual(['-new 1/1 open', '--a 1/1 open', '---a1 1/1']);
    expect(lines.map(({ isMatch }) => isMatch)).toEqual([false, false, true]);
  });

  it.each([
    ['all', '', null],
    ['active', '', ['a']],
    ['waiting', '', []],
    ['all', 'b', ['b']],
    ['all', 'MAIN', ['old', 'new', 'b', 'a', 'a1', 'lost']],
  ] as const)('the filter %s with "%s" lets %j pass', (filter, typed, wanted) => {
    const matches = createTreeMatcher(filter, typed, new Map());
    const passed =
      matches === null ? null : [...FAMILY.values()].filter(matches).map(({ id }) => id);
    expect(passed).toEqual(wanted);
  });

  it('ends for damaged parents, and shows each task at most once', () => {
    const ids = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    fc.assert(
      fc.property(fc.array(fc.tuple(ids, fc.option(ids))), fc.string(), (pairs, typed) => {
        const tasks = toMap(pairs.map(([id, parent]) => row(id, parent)));
        const matches = createTreeMatcher('all', typed, new Map());
        const shown = layOutTree(tasks, { isOpen: () => true, matches }).map((line) => line.row.id);
        expect(new Set(shown).size).toBe(shown.length);
      }),
    );
  });
});

describe('keys in the tree', () => {
  const lines = layOutTree(FAMILY, { isOpen: ({ id }) => id !== 'a', matches: null });
  it.each([
    ['ArrowDown', 0, { kind: 'focus', index: 1 }],
    ['ArrowDown', 4, { kind: 'focus', index: 4 }],
    ['ArrowUp', 0, { kind: 'focus', index: 0 }],
    ['End', 0, { kind: 'focus', index: 4 }],
    ['PageDown', 0, { kind: 'focus', index: 4 }],
    ['Home', 3, { kind: 'focus', index: 0 }],
    ['ArrowRight', 1, { kind: 'toggle', id: 'a', open: true }],
    ['ArrowRight', 0, { kind: 'focus', index: 1 }],
    ['ArrowRight', 2, null],
    ['ArrowLeft', 0, { kind: 'toggle', id: 'new', open: false }],
    ['ArrowLeft', 2, { kind: 'focus', index: 0 }],
    ['ArrowLeft', 3, null],
    ['*', 1, { kind: 'open-siblings', parent: 'new' }],
    ['x', 1, null],
  ])('%s on line %i means %j', (key, index, move) => {
    expect(moveInTree(lines, index, key)).toEqual(move);
  });

  it('a letter goes to the next title that begins with it', () => {
    expect([
      findByLetter(lines, 0, 'T'),
      findByLetter(lines, 4, 't'),
      findByLetter(lines, 0, 'z'),
    ]).toEqual([1, 0, null]);
  });
});
