import { expect, it } from 'vitest';
import { answerChoices } from '../../../../src/front/tui/model/answer-choices.ts';
import { DEFAULT_BINDINGS, type OwnAction } from '../../../../src/front/tui/model/key-bindings.ts';
import { keyHint } from '../../../../src/front/tui/model/key-names.ts';
import type { PendingQuestion } from '../../../../src/front/tui/model/task-tree.ts';
import { Pen } from '../../../../src/front/tui/view/pen.ts';
import { questionBox } from '../../../../src/front/tui/view/question-box.ts';
import { PLAIN } from '../../../../src/front/tui/view/theme.ts';
import { permissionQuestion } from '../update/fixtures.ts';

const COMMON = { id: 'q1', task: 't1', callId: 'c1', chain: ['main'], tool: 'X' };

const QUESTIONS: readonly PendingQuestion[] = [
  permissionQuestion('q1', {}),
  permissionQuestion('q1', {
    offersEdits: true,
    rule: 'Bash(x)',
    scopes: ['task', 'project', 'user'],
    modeToGrant: {
      agent: 'reviewer',
      mode: 'acceptEdits',
      scopes: ['task', 'user'],
      definition: { agent: 'reviewer', source: 'x', digest: '0' },
    } as never,
  }),
  { ...COMMON, kind: 'plan', text: '1. Do it' },
  { ...COMMON, kind: 'input', text: 'Which?', options: [] },
  { kind: 'confirm', id: 'undo', task: '', title: 'go back?', lines: [] },
];

/** Draws the key lines of a question while one answer is chosen. */
function keyText(question: PendingQuestion, chosen: OwnAction): string {
  const similar = [permissionQuestion('q2', {})];
  const style = { width: 200, height: 60, isFocused: true, waiting: 2, scroll: 0, cwd: '/x' };
  const { lines } = questionBox(
    question,
    {
      ...style,
      bindings: DEFAULT_BINDINGS,
      isDirect: false,
      similar: question.kind === 'permission' ? similar : [],
      isForSimilar: false,
      typing: 'nothing',
      chosen,
      proposal: null,
    },
    new Pen(PLAIN),
  );
  return lines.filter((line) => line.startsWith('└')).join(' ');
}

it.each(QUESTIONS.map((question) => [question.kind, question] as const))(
  'every answer of a question of kind %s can be chosen, in the order of the box',
  (kind, question) => {
    const hasSimilar = kind === 'permission';
    const choices = answerChoices(question, { hasSimilar, bindings: DEFAULT_BINDINGS });
    const places = choices.map((action) => {
      const text = keyText(question, action);
      const [key = ''] = keyHint(DEFAULT_BINDINGS, action, '');
      const mark = text.indexOf(`▶ ${key.trim()} `);
      expect(mark, `${action} in ${text}`).toBeGreaterThan(-1);
      return mark;
    });
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    // Every key of the box but the one that leaves the question is a choice.
    const keys = keyText(question, choices[0] ?? 'answer-no').split(' · ').length;
    const lines = keyText(question, choices[0] ?? 'answer-no').split('└').length - 2;
    expect(choices.length).toBe(keys + lines - 1);
  },
);

it('an answer without a key cannot be chosen', () => {
  const bindings = { ...DEFAULT_BINDINGS, 'answer-once': { keys: [], scope: 'question' } } as const;
  const [question = permissionQuestion('q1', {})] = QUESTIONS;
  const [first] = answerChoices(question, { hasSimilar: false, bindings });
  expect(first).toBe('answer-no');
});
