import { describe, expect, it } from 'vitest';
import type { AppState } from '../../../../src/front/tui/model/app-state.ts';
import type { Action } from '../../../../src/front/tui/model/key-bindings.ts';
import type { UiEffect } from '../../../../src/front/tui/update/step.ts';
import type { UiMessage } from '../../../../src/front/tui/update/message.ts';
import { update } from '../../../../src/front/tui/update/update.ts';
import type { InputQuestion, PlanQuestion, Question } from '../../../../src/protocol/question.ts';
import { CONTEXT, permissionQuestion, stateOf } from './fixtures.ts';

const BASE = { task: 'main', callId: 'call', chain: ['main'] } as const;
const PERMISSION = permissionQuestion('q1');
const INPUT: InputQuestion = {
  ...BASE,
  id: 'q1',
  kind: 'input',
  tool: 'AskUser',
  text: 'Which port?',
  options: ['8080', '3000'],
};
const PLAN: PlanQuestion = { ...BASE, id: 'q1', kind: 'plan', tool: 'ExitPlanMode', text: 'Read' };
const GRANT = permissionQuestion('q1', {
  modeToGrant: {
    agent: 'coder',
    mode: 'acceptEdits',
    isOwn: true,
    definition: { path: '/home/me/coder.md', sha256: null },
    scopes: ['task'],
  },
});

function play(state: AppState, ...messages: readonly UiMessage[]) {
  const effects: UiEffect[] = [];
  for (const message of messages) {
    const result = update(state, message, CONTEXT);
    ({ state } = result);
    effects.push(...result.effects);
  }
  return { state, effects };
}

const key = (meaning: Action): UiMessage => ({ type: 'key-pressed', meaning });
const asking = (question: Question): AppState =>
  play(
    stateOf({ typed: '' }, { members: { main: {} }, questions: [question] }),
    key('focus-question'),
  ).state;
const answer = (text: string, more: object = {}, typed: string | null = null) => ({
  type: 'answer-question',
  answer: { question: 'q1', text, ...more },
  typed,
});

describe('a focused question', () => {
  it.each<readonly [string, Question, Action, readonly object[]]>([
    ['a call', PERMISSION, 'answer-once', [answer('yes')]],
    ['a call', PERMISSION, 'answer-always', [answer('always')]],
    ['a call', PERMISSION, 'answer-no', [answer('no')]],
    ['a call', PERMISSION, 'answer-mode', []],
    ['a call', PERMISSION, 'option-1', []],
    ['a call', PERMISSION, 'answer-text', []],
    ['a call', PERMISSION, 'answer-edit', []],
    ['a mode', GRANT, 'answer-mode', [answer('mode', { scope: 'task' })]],
    ['a mode', GRANT, 'answer-mode-user', []],
    ['a choice', INPUT, 'answer-once', []],
    ['a choice', INPUT, 'option-2', [answer('2')]],
    ['a choice', INPUT, 'option-3', []],
    ['a choice', INPUT, 'answer-reason', []],
    ['a plan', PLAN, 'answer-always', [answer('always')]],
    ['a plan', PLAN, 'option-1', []],
  ])('about %s: %o and %s', (_, question, action, effects) => {
    expect(play(asking(question), key(action)).effects).toEqual(effects);
  });

  it.each<readonly [Question, Action, string, string, object]>([
    [
      PERMISSION,
      'answer-reason',
      '',
      'use vitest',
      answer('no', { reason: 'use vitest' }, 'use vitest'),
    ],
    [PERMISSION, 'answer-reason', '', ' ', answer('no', {}, ' ')],
    [INPUT, 'answer-text', '', 'any', answer('any', {}, 'any')],
    [PLAN, 'answer-edit', 'Read', 'Write', answer('yes', { plan: 'Write' }, 'Write')],
  ])('is answered by a text: %o %s', (question, action, begin, text, effect) => {
    const writing = play({ ...asking(question), typed: 'draft' }, key(action));
    expect(writing.effects).toEqual([{ type: 'set-editor-text', text: begin }]);
    const sent = play(writing.state, { type: 'submitted', text });
    expect(sent.effects).toEqual([effect]);
    const accepted = play(sent.state, { type: 'answer-accepted', question: 'q1' });
    expect(accepted.effects).toEqual([{ type: 'set-editor-text', text: 'draft' }]);
    expect(accepted.state).toMatchObject({ focus: 'editor', question: null });
  });

  it('keeps a typed answer that was rejected, to be sent again', () => {
    const writing = play(asking(INPUT), key('answer-text'), { type: 'submitted', text: 'any' });
    const rejected = play(writing.state, {
      type: 'answer-rejected',
      reason: 'the task is gone',
      typed: 'any',
    });
    expect(rejected.effects).toEqual([{ type: 'set-editor-text', text: 'any' }]);
    expect(rejected.state).toMatchObject({ hint: 'the task is gone', writing: { kind: 'answer' } });
  });

  it('does not lose the focus to an earlier answer that is accepted late', () => {
    const other = permissionQuestion('q2');
    const state = stateOf({}, { questions: [PERMISSION, other] });
    const focused = { ...state, focus: 'question', question: 'q2' } as const;
    const late = play(focused, { type: 'answer-accepted', question: 'q1' });
    expect(late).toEqual({ state: focused, effects: [] });
  });

  it('gives the keys back to the editor once somebody else has settled it', () => {
    const state = asking(PERMISSION);
    const tree = { ...state.tree, questions: new Map() };
    const size = { width: 80, height: 24, editorLines: 3 };
    const framed = play({ ...state, tree }, { type: 'frame', size });
    expect(framed.state).toMatchObject({
      focus: 'editor',
      question: null,
      hint: 'this question is settled',
    });
  });

  it('keeps what is typed until it is answered', () => {
    const state = stateOf({ typed: 'half a message' }, { questions: [PERMISSION] });
    const [typed] = [play(state, { type: 'submitted', text: 'half a message' })];
    expect(typed?.effects).toContainEqual({
      type: 'send-message',
      text: 'half a message',
      to: null,
    });
  });
});
