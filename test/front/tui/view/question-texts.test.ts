import { expect, it } from 'vitest';
import { offeredRuleTexts } from '../../../../src/front/tui/view/question-texts.ts';
import type { PermissionQuestion } from '../../../../src/protocol/question.ts';

it.each([
  ['Edit(//home/me/app/src/a.ts)', 'Edit(./src/a.ts)'],
  ['Edit(//home/me/app/src/**)', 'Edit(./src/**)'],
  ['Edit(//home/me/application/a.ts)', 'Edit(//home/me/application/a.ts)'],
  ['Read(//etc/hosts)', 'Read(//etc/hosts)'],
  ['Bash(cat //home/me/app/a)', 'Bash(cat //home/me/app/a)'],
  ['WebFetch', 'WebFetch'],
])('the rule %s is shown as %s', (rule, shown) => {
  const question: PermissionQuestion = {
    kind: 'permission',
    id: 'q1',
    task: 't1',
    callId: 'c1',
    step: 'tool_default',
    chain: ['main'],
    tool: 'Edit',
    commands: [],
    paths: [],
    hosts: [],
    input: null,
    edits: [],
    reason: '',
    askedBy: null,
    rule,
    scopes: ['task'],
  };
  expect(offeredRuleTexts(question, '/home/me/app')).toEqual([shown]);
});
