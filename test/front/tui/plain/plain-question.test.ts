import { describe, expect, it } from 'vitest';
import {
  parseTypedLine,
  questionText,
  type TypedLine,
} from '../../../../src/front/tui/plain/plain-question.ts';
import { Pen } from '../../../../src/front/tui/view/pen.ts';
import { PLAIN } from '../../../../src/front/tui/view/theme.ts';
import { permissionQuestion } from '../update/fixtures.ts';

const EDIT = permissionQuestion('q1', { tool: 'Edit', offersEdits: true });
const UNRULED = permissionQuestion('q1', { rule: null, scopes: [] });

describe('a typed line', () => {
  it.each<readonly [string, typeof EDIT, TypedLine | null]>([
    ['y', EDIT, { answer: { text: 'yes' }, isForSimilar: false }],
    ['p', EDIT, { answer: { text: 'always', scope: 'project' }, isForSimilar: false }],
    ['p', UNRULED, null],
    ['e', EDIT, { answer: { text: 'edits' }, isForSimilar: false }],
    ['e', UNRULED, null],
    ['A a', EDIT, { answer: { text: 'always' }, isForSimilar: true }],
    ['A n use make', EDIT, { answer: { text: 'no', reason: 'use make' }, isForSimilar: true }],
    ['A new idea', EDIT, null],
    ['A', EDIT, null],
    ['please', EDIT, null],
  ])('%s', (line, question, typed) => {
    expect(parseTypedLine(question, line)).toEqual(typed);
  });
});

describe('a question in plain lines', () => {
  it('names the task, the scopes and all similar questions', () => {
    const cwd = '/home/you/project';
    const question = permissionQuestion('q1', {
      description: 'part 0',
      moreRules: ['Bash(make)'],
      paths: [`${cwd}/a.ts`],
    });
    const similar = [permissionQuestion('q2', { description: 'part 1', commands: ['make it'] })];
    expect(questionText(question, { waiting: 2, similar, cwd }, new Pen(PLAIN))).toEqual([
      'Question: main > coder “part 0” asks to run Bash. 1 more after this one.',
      '  npm test',
      '  a.ts',
      '  Bash runs commands.',
      'Type y for once, a for always in this conversation (Bash(npm test:*), Bash(make)), p for always in this project, n for no, or n and the reason.',
      'Type A before your answer, such as A y, to answer these alike:',
      '  coder “part 1”',
      '    make it',
      '    Bash runs commands.',
    ]);
  });
});
