import { expect, it } from 'vitest';
import {
  applyToDelegations,
  initialDelegations,
  countRounds,
} from '../../../src/protocol/state/delegations.ts';
import type { EventBody, TaskEvent } from '../../../src/protocol/events/event.ts';
import type { FileChange } from '../../../src/protocol/tool.ts';

const ID = 'task00000000';

function after(...steps: readonly (readonly [turns: number, body: EventBody])[]) {
  const delegations = initialDelegations();
  for (const [turns, body] of steps) {
    const event: TaskEvent = Object.assign({ v: 3, seq: 1, ts: 1, task: ID, epoch: 1 }, body);
    applyToDelegations(delegations, event, { turns, filesChanged: KNOWN });
  }
  return delegations;
}

const change = (after: string): FileChange => ({ path: '/a', before: null, after });
const KNOWN = new Map([['/a', change('1')]]);
const created: EventBody = {
  type: 'child.created',
  child: 'child0000000',
  callId: 'c1',
  background: false,
  delegation: 'k',
};
const ended = (changed: readonly FileChange[]): EventBody => ({
  type: 'child.ended',
  child: 'child0000000',
  status: 'completed',
  changed,
  spent: { tokens: 0, costUsd: 0 },
  below: [],
  delegations: { k: 2 },
});

it.each([
  ['the delegations of one message once', [[1, created] as const, [1, created] as const], 1],
  ['the delegations of each message', [[1, created] as const, [2, created] as const], 2],
  ['the delegations of a child that ended', [[1, created] as const, [1, ended([])] as const], 3],
  [
    'without interruption if a child reports a known change',
    [[1, created] as const, [1, ended([change('1')])] as const],
    3,
  ],
  [
    'from zero after a child changed a file',
    [[1, created] as const, [1, ended([change('2')])] as const],
    2,
  ],
])('counts %s', (_, steps, rounds) => {
  expect(countRounds(after(...steps), 'k')).toBe(rounds);
});

it('takes from a refusal the parts of a limit, and ignores everything else in the log', () => {
  const refusedBy = { limit: 'same_delegations', value: 5, used: 5, type: 'rights.granted' };
  const body: EventBody = {
    type: 'call.ended',
    callId: 'c1',
    tool: 'Task',
    text: '',
    error: 'LIMIT_EXCEEDED',
    facts: { refusedBy },
    ms: 1,
  };
  const { refusals, refused } = after([1, body], [1, body], [2, body]);
  expect([refusals, refused]).toEqual([
    2,
    { hit: { limit: 'same_delegations', value: 5, used: 5 }, turn: 2 },
  ]);
});
