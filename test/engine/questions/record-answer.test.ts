import { describe, expect, it } from 'vitest';
import { parseAnswer, type AnswerRequest } from '../../../src/engine/questions/parse-answer.ts';
import type { Answer, InputQuestion, PermissionQuestion } from '../../../src/protocol/question.ts';

const PERMISSION: PermissionQuestion = {
  kind: 'permission',
  id: 'taskq1',
  task: 'task',
  callId: 'c1',
  chain: ['main'],
  tool: 'Bash',
  commands: ['make'],
  paths: [],
  hosts: [],
  edits: [],
  input: null,
  step: 'tool_default',
  reason: 'Bash runs commands.',
  askedBy: null,
  rule: 'Bash(make)',
  scopes: ['task', 'project'],
};
const UNRULED: PermissionQuestion = { ...PERMISSION, rule: null, scopes: [] };
const INPUT: InputQuestion = {
  kind: 'input',
  id: 'taskq2',
  task: 'task',
  callId: 'c2',
  chain: ['main'],
  tool: 'AskUser',
  text: 'Which?',
  options: ['left', 'right'],
};

describe('an answer', () => {
  it.each<[AnswerRequest, PermissionQuestion | InputQuestion, Answer]>([
    [{ text: 'yes' }, PERMISSION, { kind: 'once' }],
    [{ text: ' YES ' }, UNRULED, { kind: 'once' }],
    [{ text: 'no' }, PERMISSION, { kind: 'no', reason: null }],
    [{ text: 'no', reason: ' ' }, PERMISSION, { kind: 'no', reason: null }],
    [{ text: 'no', reason: 'later' }, UNRULED, { kind: 'no', reason: 'later' }],
    [{ text: 'always' }, PERMISSION, { kind: 'always', scope: 'task' }],
    [{ text: 'always', scope: 'project' }, PERMISSION, { kind: 'always', scope: 'project' }],
    [{ text: 'no' }, INPUT, { kind: 'text', text: 'no' }],
    [{ text: '1' }, INPUT, { kind: 'text', text: 'left' }],
    [{ text: ' 2 ' }, INPUT, { kind: 'text', text: 'right' }],
    [{ text: '3' }, INPUT, { kind: 'text', text: '3' }],
    [{ text: '01' }, INPUT, { kind: 'text', text: '01' }],
    [{ text: '1' }, { ...INPUT, options: [] }, { kind: 'text', text: '1' }],
  ])('%j', (wish, question, answer) => {
    expect(parseAnswer(question, wish)).toEqual(answer);
  });

  it.each<[AnswerRequest, PermissionQuestion | InputQuestion, RegExp]>([
    [{ text: '' }, PERMISSION, /"" is not a valid answer; valid: yes, always, no/],
    [{ text: '1' }, UNRULED, /"1" is not a valid answer; valid: yes, no/],
    [{ text: 'x'.repeat(500) }, PERMISSION, /"x{60}" is not a valid answer/],
    [{ text: 'yes', scope: 'task' }, PERMISSION, /a scope is allowed only with the answer always/],
    [{ text: 'always', reason: 'x' }, PERMISSION, /a reason is allowed only with the answer no/],
    [
      { text: 'always', scope: 'user' },
      PERMISSION,
      /"user" is not offered here; valid: task, project/,
    ],
    [{ text: 'always', scope: 'world' }, PERMISSION, /"world" is unknown; valid: task, project/],
    [
      { text: 'always' },
      UNRULED,
      /the answer "always" is not offered, only yes \(this once\) and no/,
    ],
    [{ text: ' ' }, INPUT, /the answer is empty/],
    [{ text: 'left', scope: 'task' }, INPUT, /a scope or a reason is not allowed/],
    [{ text: 'left', reason: 'x' }, INPUT, /a scope or a reason is not allowed/],
  ])('%j is an error', (wish, question, message) => {
    expect(() => parseAnswer(question, wish)).toThrow(message);
  });
});
