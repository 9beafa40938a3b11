import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  endsTurn,
  decidePermissionQuestion,
  decidePlanQuestion,
  decideUserQuestion,
  describeDenials,
  isEndedByDenials,
} from '../../src/policy/decide-question.ts';
import type { AskingTask, PermissionRequest } from '../../src/policy/decide-question.ts';
import type { Decision } from '../../src/protocol/permission.ts';
import type { Answer, OnAsk } from '../../src/protocol/question.ts';
import type { TaskState } from '../../src/protocol/state/task-state.ts';

const DECISION: Decision = {
  verdict: 'ask',
  step: 'tool_default',
  reason: 'Bash runs commands or code.',
  wouldAllow: 'Bash(npm test)',
};

function task(parts: Partial<AskingTask> = {}): AskingTask {
  return { refusesQuestions: false, agents: [{ name: 'main' }], onAsk: 'wait', ...parts };
}

/** A task of which only the parts that count denials are there. */
function denied(times: number, parent: string | null = 'parent'): PermissionRequest['state'] {
  return {
    spec: { parent } as TaskState['spec'],
    activation: { denials: times } as TaskState['activation'],
    denials: times === 0 ? [] : ['Bash: rm -r build'],
  };
}

function request(parts: Partial<PermissionRequest> = {}): PermissionRequest {
  return {
    decision: DECISION,
    task: task(),
    answer: null,
    state: denied(0),
    isPartlyHidden: () => false,
    ...parts,
  };
}

const REFUSING = task({
  refusesQuestions: true,
  agents: [{ name: 'worker' }, { name: 'boss', refusesQuestions: true }, { name: 'main' }],
});

function refusedByPerson(reason: string, instead?: string) {
  const advice =
    instead ?? 'Do not try the same another way; go on without it, and say so in your answer.';
  return {
    kind: 'refused',
    decision: {
      verdict: 'deny',
      step: 'answer',
      reason,
      ...(instead === undefined ? {} : { instead }),
    },
    refusal: `Refused, nothing was done. ${reason} ${advice}`,
  };
}

function refusedUnasked(why: string) {
  return {
    kind: 'refused',
    decision: DECISION,
    refusal: `Refused, nothing was done. ${DECISION.reason} ${why} A user can allow it with --allow 'Bash(npm test)'. Do not try the same another way; go on without it, and say so in your answer.`,
  };
}

describe('an answer', () => {
  const main = { parent: null, isUserPresent: true };
  const child = { parent: 'main', isUserPresent: true };
  test.each<readonly [Answer, Parameters<typeof endsTurn>[1], boolean]>([
    [{ kind: 'no', reason: null }, main, true],
    [{ kind: 'no', reason: 'use make' }, main, false],
    [{ kind: 'no', reason: null }, child, false],
    [{ kind: 'no', reason: null }, { parent: null, isUserPresent: false }, false],
    [{ kind: 'once' }, main, false],
    [{ kind: 'always', scope: 'task' }, main, false],
    [{ kind: 'text', text: 'no' }, main, false],
  ])('%j to %j ends the turn: %s', (answer, asker, ends) => {
    expect(endsTurn(answer, asker)).toBe(ends);
  });
});

describe('a call that needs a question', () => {
  test.each<[string, Partial<PermissionRequest>, object]>([
    ['is asked about', {}, { kind: 'ask' }],
    ['is asked about by a parked task', { task: task({ onAsk: 'park' }) }, { kind: 'ask' }],
    ['runs if the answer is yes', { answer: { kind: 'once' } }, { kind: 'allowed' }],
    [
      'runs if the answer gives a rule',
      { answer: { kind: 'always', scope: 'task' } },
      { kind: 'allowed' },
    ],
    [
      'runs because of an earlier answer if nobody is there now',
      { answer: { kind: 'once' }, task: task({ onAsk: 'deny' }) },
      { kind: 'allowed' },
    ],
    [
      'is refused if the answer is no',
      { answer: { kind: 'no', reason: null } },
      refusedByPerson('The user was asked and said no.'),
    ],
    [
      'is refused with the reason of the person',
      { answer: { kind: 'no', reason: 'use make' } },
      refusedByPerson('The user said no and gave this instruction: use make.', 'Follow it.'),
    ],
    [
      'is refused if nobody is there',
      { task: task({ onAsk: 'deny' }) },
      refusedUnasked('Nobody is here to be asked.'),
    ],
    [
      'is refused if a definition refuses questions',
      { task: REFUSING },
      refusedUnasked(
        'It is not asked: the definition of `boss` wants what would be asked to be refused.',
      ),
    ],
    [
      'is refused if the rights refuse questions and no definition does',
      { task: task({ refusesQuestions: true }) },
      refusedUnasked('It is not asked: a task above wants what would be asked to be refused.'),
    ],
    [
      'is refused in spite of an earlier answer if questions are refused',
      { task: REFUSING, answer: { kind: 'once' } },
      refusedUnasked(
        'It is not asked: the definition of `boss` wants what would be asked to be refused.',
      ),
    ],
    [
      'is refused after three denials',
      { state: denied(3) },
      refusedByPerson(
        'Not asked: the user said no 3 times in a row, the last time to Bash: rm -r build.',
      ),
    ],
    ['is asked about after two denials', { state: denied(2) }, { kind: 'ask' }],
    [
      'is asked about by a main agent after any number of denials',
      { state: denied(9, null) },
      { kind: 'ask' },
    ],
    [
      'is refused if redaction would hide a part of it',
      { isPartlyHidden: () => true },
      refusedByPerson(
        'Not asked: what it would run holds a private key, or a secret of several words, and neither is ever shown, so nobody could see what they allow. Put the secret into a file or a variable, and name that.',
      ),
    ],
  ])('%s', (_, parts, outcome) => {
    expect(decidePermissionQuestion(request(parts))).toEqual(outcome);
  });

  test('runs only because of the answer of a person, whatever else applies', () => {
    const answers = fc.constantFrom<Answer | null>(
      null,
      { kind: 'once' },
      { kind: 'always', scope: 'project' },
      { kind: 'mode', scope: 'task' },
      { kind: 'no', reason: 'no' },
    );
    const everything = fc.record({
      answer: answers,
      refusesQuestions: fc.boolean(),
      onAsk: fc.constantFrom<OnAsk>('deny', 'park', 'wait'),
      denials: fc.nat(5),
      hidden: fc.boolean(),
    });
    fc.assert(
      fc.property(everything, ({ answer, refusesQuestions, onAsk, denials, hidden }) => {
        const { kind } = decidePermissionQuestion(
          request({
            answer,
            task: task({ refusesQuestions, onAsk }),
            state: denied(denials),
            isPartlyHidden: () => hidden,
          }),
        );
        const isYes = answer !== null && answer.kind !== 'no';
        expect(kind === 'allowed').toBe(isYes && !refusesQuestions);
        const isRefused = refusesQuestions || onAsk === 'deny' || denials >= 3 || hidden;
        expect(kind === 'ask').toBe(answer === null && !isRefused);
      }),
    );
  });
});

test.each<[string, AskingTask, string | null]>([
  ['is asked', task(), null],
  ['is asked when its task can be parked', task({ onAsk: 'park' }), null],
  [
    'is refused if nobody is there',
    task({ onAsk: 'deny' }),
    'Nobody is here to answer: this run has no user to ask (--on-ask deny). Decide yourself, and say in your answer what you assumed.',
  ],
  [
    'is refused by the definition first',
    { ...REFUSING, onAsk: 'deny' },
    'It is not asked: the definition of `boss` wants what would be asked to be refused. Decide yourself, and say in your answer what you assumed.',
  ],
])('a question of AskUser %s', (_, asking, refusal) => {
  expect(decideUserQuestion(asking)).toBe(refusal);
});

test.each<[string, AskingTask, boolean]>([
  ['is shown', task(), true],
  ['is shown when its task can be parked', task({ onAsk: 'park' }), true],
  ['is not shown if nobody is there', task({ onAsk: 'deny' }), false],
  ['is not shown if questions are refused', REFUSING, false],
])('a plan %s', (_, asking, isShown) => {
  expect(decidePlanQuestion(asking)).toBe(
    isShown ? null : 'Nobody is here to approve a plan. Give it as your answer.',
  );
});

test('three denials in a row end a child, and never a main agent', () => {
  expect([0, 2, 3, 4].map((times) => isEndedByDenials(denied(times)))).toEqual([
    false,
    false,
    true,
    true,
  ]);
  expect(isEndedByDenials(denied(9, null))).toBe(false);
  expect(describeDenials({ denials: [] })).toBe(
    'the user said no 3 times in a row, the last time to a call',
  );
});
