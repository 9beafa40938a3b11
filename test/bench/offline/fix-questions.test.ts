import { expect, test } from 'vitest';
import { fixQuestions, type Commit } from '../../../bench/offline/fix-questions.ts';

let number = 0;
function commit(subject: string, ...changes: readonly string[]): Commit {
  number += 1;
  const split = changes.map((change) => change.split(' '));
  return {
    id: `c${number}`,
    parents: ['p'],
    subject,
    changes: split.map(([status = '', path = '']) => ({ status, path })),
  };
}

test.each([
  ['fix(router): lost routes after a restart (#12)', 'lost routes after a restart'],
  ['LANG-12: Fix rounding of large numbers', 'Fix rounding of large numbers'],
  ['[net] Fixes #7: broken pipe on close', 'broken pipe on close'],
  ['Fix crash when `tree.walk` meets a loop', 'Fix crash when `tree.walk` meets a loop'],
])('%s', (subject, question) => {
  expect(
    fixQuestions([commit(subject, 'M src/lines.py', 'M test/lines_test.py', 'A docs/x.md')], 9),
  ).toEqual([{ workspace: 'p', question, answers: ['src/lines.py'], language: 'python' }]);
});

test.each([
  ['it names the file', 'Fix lost lines in reader', 'M src/reader.go'],
  ['it names the file by its words', 'Fix lost lines in line reader', 'M src/line_reader.go'],
  ['it is not a fix', 'Teach it to read backwards', 'M src/a.go'],
  ['it changes a comment', 'Fix typos all over here', 'M src/a.go'],
  ['it changes a test', 'Fix the tests of reading', 'M src/a_test.go'],
  ['it adds a file', 'Fix the missing reader again', 'A src/a.go'],
  ['it says nothing', 'Fix it', 'M src/a.go'],
])('no question: %s', (_, subject, change) => {
  expect(fixQuestions([commit(subject, change)], 9)).toEqual([]);
});

test('a fix that changes three files gives no question', () => {
  expect(fixQuestions([commit('Fix lost routes again', 'M a.c', 'M b.c', 'M c.c')], 9)).toEqual([]);
});

test('the questions are spread over the history, each of them once', () => {
  const history = Array.from({ length: 10 }, (_, index) => [
    commit(`Fix lost route number n${index}`, 'M a.c'),
    commit(`fix lost route number n${index}`, 'M a.c'),
  ]).flat();
  expect(fixQuestions(history, 3).map(({ question }) => question.slice(-2))).toEqual([
    'n1',
    'n5',
    'n8',
  ]);
});
