import { describe, expect, it } from 'vitest';
import {
  findItemsToRetry,
  listRemainingSteps,
} from '../../../src/engine/fan-out/remaining-items.ts';
import type { EndStatus } from '../../../src/protocol/result.ts';

/** Creates the state of a run in which item N has the task `tN` with the status N. `undefined` means no task. */
function stateOf(...ends: readonly (EndStatus | null | undefined)[]) {
  const begun = ends.flatMap((status, index) => (status === undefined ? [] : [{ status, index }]));
  return {
    items: new Map(begun.map(({ index }) => [index, `t${index}`])),
    children: new Map(begun.map(({ index, status }) => [`t${index}`, { status }])),
  };
}

describe('the remaining items of a run', () => {
  const items = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  const state = stateOf('completed', null, null, 'stopped', 'failed', 'partial', 'killed');

  it('are those that never began, were stopped, or were only announced, and these come first', () => {
    expect(listRemainingSteps({ items }, state, (task) => task === 't1')).toEqual([
      { kind: 'create', index: 2, reservedId: 't2' },
      { kind: 'resume', index: 3, task: 't3' },
      { kind: 'resume', index: 6, task: 't6' },
      { kind: 'create', index: 7, reservedId: null },
    ]);
  });

  it('include failed items once they are reopened', () => {
    expect(findItemsToRetry(state)).toEqual([4, 5]);
    for (const index of findItemsToRetry(state)) state.items.delete(index);
    const steps = listRemainingSteps({ items }, state, () => true);
    expect(steps.map(({ index }) => index)).toEqual([3, 4, 5, 6, 7]);
  });
});
