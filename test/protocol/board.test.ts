import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MusterError } from '../../src/base/errors.ts';
import {
  findFinding,
  mergeFindings,
  selectOwnFindings,
  type BoardFinding,
} from '../../src/protocol/board.ts';

function finding(id: string, change: Partial<BoardFinding> = {}): BoardFinding {
  const author = { task: 'task00000001', agent: 'Explore', at: 1_000 };
  return {
    finding: id,
    number: 1,
    title: 'a title',
    text: 'a text',
    callId: 'c',
    author,
    ...change,
  };
}

const by = (task: string, at = 1_000) => ({ author: { task, agent: 'Explore', at } });

describe('mergeFindings', () => {
  it.each<readonly [string, readonly (readonly BoardFinding[])[], readonly string[]]>([
    ['nothing', [], []],
    ['empty logs', [[], []], []],
    ['numbers', [[finding('b', { number: 2 })], [finding('a', { number: 1 })]], ['a', 'b']],
    [
      'numbers, and not times',
      [[finding('b', { number: 2, ...by('t', 1) })], [finding('a', by('t', 9))]],
      ['a', 'b'],
    ],
    [
      'times of equal numbers',
      [[finding('b', by('t', 9))], [finding('a', by('t', 1))]],
      ['a', 'b'],
    ],
    ['tasks of equal times', [[finding('b', by('u'))], [finding('a', by('t'))]], ['a', 'b']],
    ['ids of equal tasks', [[finding('b'), finding('a')]], ['a', 'b']],
    ['one finding twice', [[finding('a')], [finding('a')]], ['a']],
  ])('orders by %s', (_, lists, ids) => {
    expect(mergeFindings(lists).map((each) => each.finding)).toEqual(ids);
  });

  it('gives the same board whatever the order of the logs, and when it is repeated', () => {
    const each = fc
      .record({
        id: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
        number: fc.nat({ max: 3 }),
        task: fc.constantFrom('t', 'u'),
        at: fc.nat({ max: 2 }),
      })
      .map(({ id, number, task, at }) => finding(id, { number, ...by(task, at) }));
    fc.assert(
      fc.property(fc.array(fc.array(each, { maxLength: 4 }), { maxLength: 4 }), (lists) => {
        const board = mergeFindings(lists);
        expect(mergeFindings(lists.toReversed())).toEqual(board);
        expect(mergeFindings([board, ...lists])).toEqual(board);
        const ids = new Set(lists.flat().map((one) => one.finding));
        expect(board.map((one) => one.finding).toSorted()).toEqual([...ids].toSorted());
      }),
    );
  });
});

describe('findFinding', () => {
  const board = [finding('abcd00000001'), finding('abcd00000002'), finding('abcd0000000')];

  it.each([
    ['abcd00000001', 'abcd00000001'],
    // An id that is the beginning of others is meant itself.
    ['abcd0000000', 'abcd0000000'],
    ['abcd00000002', 'abcd00000002'],
  ])('finds %s', (reference, id) => {
    expect(findFinding(board, reference)).toMatchObject({ finding: id });
  });

  it.each([
    ['abcd', 'INVALID_PARAM', 'id: abcd is the beginning of 3 ids; give more of it'],
    ['x', 'NOT_FOUND', 'id: no finding on the board begins with x'],
    ['y'.repeat(999), 'NOT_FOUND', `id: no finding on the board begins with ${'y'.repeat(64)}`],
  ] as const)('refuses %s', (reference, code, message) => {
    expect(findFinding(board, reference)).toEqual(new MusterError(code, message));
  });
});

it('selects what a task has posted itself', () => {
  const own = finding('a', by('t'));
  expect(selectOwnFindings([own, finding('b', by('u'))], 't')).toEqual([own]);
});
