import { describe, expect, it } from 'vitest';
import { decideAcceptance } from '../../../src/engine/acceptance/decide-acceptance.ts';
import type { AcceptanceOutcome } from '../../../src/protocol/acceptance.ts';
import type { TaskState } from '../../../src/protocol/state/task-state.ts';
import { stateOf } from '../../receipts/support.ts';

const ACCEPT = {
  commands: ['make test'],
  changed: [],
  unchanged: [],
  mayChange: [],
  maxChangedLines: null,
};
const LARGE = { provider: 'acme', id: 'large', chain: ['call'] };

function outcome(turn: number, isPassed: boolean): AcceptanceOutcome {
  const run = { command: 'make test', exitCode: isPassed ? 0 : 2, ms: 3_000, output: 'boom' };
  return { turn, isPassed, tree: 'abc', runs: [run], problems: [], isSandboxed: true };
}

/** The state after an answer in turn `turn`, with the checks so far as [turn, rung, passed]. */
function stateAfter(
  turn: number,
  checks: readonly (readonly [turn: number, rung: number, isPassed: boolean])[],
  options: { readonly models?: readonly (typeof LARGE)[]; readonly rung?: number } = {},
): TaskState {
  const { models = [], rung = 0 } = options;
  const state = stateOf([], { accept: ACCEPT, laterModels: models });
  state.turns = turn;
  state.acceptance.rung = rung;
  state.acceptance.checks = checks.map(([at, of, isPassed]) => ({
    outcome: outcome(at, isPassed),
    rung: of,
  }));
  return state;
}

describe('after a final answer', () => {
  it('nothing is checked without criteria', () => {
    expect(decideAcceptance(stateOf([]))).toBeNull();
    expect(decideAcceptance(stateOf([], { accept: { ...ACCEPT, commands: [] } }))).toBeNull();
  });

  it.each<[string, TaskState, string | null]>([
    ['the work is checked', stateAfter(1, []), 'accept'],
    ['the work of a later answer is checked again', stateAfter(2, [[1, 0, false]]), 'accept'],
    ['work that has passed is accepted', stateAfter(1, [[1, 0, true]]), null],
    ['the first refusal is explained', stateAfter(1, [[1, 0, false]]), 'notice'],
    [
      'the second refusal is explained',
      stateAfter(2, [
        [1, 0, false],
        [2, 0, false],
      ]),
      'notice',
    ],
    [
      'the third refusal ends the task',
      stateAfter(3, [
        [1, 0, false],
        [2, 0, false],
        [3, 0, false],
      ]),
      'end',
    ],
    [
      'the second refusal of a model with a successor lets the next one continue',
      stateAfter(
        2,
        [
          [1, 0, false],
          [2, 0, false],
        ],
        { models: [LARGE] },
      ),
      'escalate',
    ],
    [
      'the next model first learns why the work was refused',
      stateAfter(
        2,
        [
          [1, 0, false],
          [2, 0, false],
        ],
        { models: [LARGE], rung: 1 },
      ),
      'notice',
    ],
    [
      'the last model has three checks of its own',
      stateAfter(
        4,
        [
          [1, 0, false],
          [2, 0, false],
          [3, 1, false],
          [4, 1, false],
        ],
        {
          models: [LARGE],
          rung: 1,
        },
      ),
      'notice',
    ],
    [
      'the third refusal of the last model ends the task',
      stateAfter(
        5,
        [
          [1, 0, false],
          [2, 0, false],
          [3, 1, false],
          [4, 1, false],
          [5, 1, false],
        ],
        {
          models: [LARGE],
          rung: 1,
        },
      ),
      'end',
    ],
  ])('%s', (_, state, kind) => {
    expect(decideAcceptance(state)?.kind ?? null).toBe(kind);
  });

  it('a refusal names the command, its exit code and its output', () => {
    expect(decideAcceptance(stateAfter(1, [[1, 0, false]]))).toEqual({
      kind: 'notice',
      id: 'accept-0-1-0',
      text: [
        'Your work is not accepted. Muster checked it on a clean copy of the directory:',
        '- make test: exit code 2 after 3.0 s',
        'boom',
        'Correct the work, and then give your final answer again.',
      ].join('\n'),
    });
  });
});
