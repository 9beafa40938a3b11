import { describe, expect, it } from 'vitest';
import {
  addAnswerText,
  refersToEarlierText,
  NO_ANSWER_TEXTS,
  resultText,
} from '../../../src/protocol/state/earlier-report.ts';

const REPORT = `## Findings\n\n${'The parser loses the last line of a file without a line break. '.repeat(10)}`;
const POINTER = 'My full report is in my previous message.';

/** The result of a task with these answers, the last of which ends it. */
function resultOf(answers: readonly string[], prompt = 'Find the bug'): string {
  const texts = answers.reduce(
    (before, text) => addAnswerText(before, text, 'next'),
    NO_ANSWER_TEXTS,
  );
  return resultText(answers.at(-1) ?? '', texts, prompt);
}

it.each([
  'My full report is in my previous message.',
  '(done — see the summary in my last message)',
  'See above.',
  'As I reported above, the parser loses the last line.',
  'Report delivered above.',
  'The complete findings are above.',
  'Done. The full analysis was provided in my earlier response.',
  'I have already reported everything; nothing to add.',
  'Todo list updated. Please refer to the summary above.',
  'The above report is final.',
  'The review stands.',
  'See the message before this one.',
  'Siehe oben.',
  'Mein Bericht steht in meiner letzten Nachricht.',
  'Wie bereits berichtet.',
  'Voir mon message précédent.',
  'Le rapport se trouve ci-dessus.',
  'El informe está en mi mensaje anterior.',
  'Veja o relatório acima.',
  'Vedi il messaggio precedente.',
  'Zie hierboven.',
  'Отчёт в предыдущем сообщении.',
  'Смотрите выше.',
  '完整报告见上文。',
  '请参阅我上一条消息。',
  '上記の報告をご覧ください。',
  '前回のメッセージの通りです。',
  '이전 메시지를 참고하세요.',
])('%s points to an earlier message', (text) => {
  expect(refersToEarlierText(text)).toBe(true);
  expect(resultOf(['I will look.', REPORT, text])).toBe(`${REPORT.trimEnd()}\n\n${text}`);
});

it.each([
  'The parser loses the last line.',
  'Yes.',
  '42',
  'I changed parse.ts and ran the tests: all pass.',
  'The handler crashes if the previous message is empty.',
  'The value is returned before the lock is released.',
  'The tests are already written.',
  'The error is shown above the input field.',
  'The list has three entries, the last of which is empty.',
  'Nothing was found.',
  `${POINTER} ${'It also says something of its own. '.repeat(20)}`,
])('%s does not point to an earlier message', (text) => {
  expect(refersToEarlierText(text)).toBe(false);
  expect(resultOf([REPORT, text])).toBe(text);
});

describe('the result', () => {
  const joined = (last: string, report = REPORT) => `${report.trimEnd()}\n\n${last}`;

  it.each([
    ['a report and a pointer', [REPORT, POINTER], joined(POINTER)],
    [
      'a short report and a pointer',
      ['It is in a.ts:3.', POINTER],
      joined(POINTER, 'It is in a.ts:3.'),
    ],
    [
      'work that was done after the report',
      [REPORT, 'Updating the list.', POINTER],
      joined(POINTER),
    ],
    ['two pointers', [REPORT, 'See above.', POINTER], joined(POINTER)],
    ['two reports', ['A plan. '.repeat(100), REPORT, POINTER], joined(POINTER)],
    ['an empty answer before it', [REPORT, ' ', POINTER], joined(POINTER)],
    ['only “Done”', [REPORT, 'Done.'], joined('Done.')],
    ['only a sign', [REPORT, '✅'], joined('✅')],
    ['an empty answer at the end', ['I will look.', REPORT, 'Updating.', ''], REPORT],
    ['no report', [POINTER], POINTER],
    ['“Done” after a short text', ['I will look.', 'Done.'], 'Done.'],
    ['a short answer', [REPORT, 'The answer is 42.'], 'The answer is 42.'],
    ['nothing', [''], ''],
  ])('of %s', (_, answers, result) => {
    expect(resultOf(answers)).toBe(result);
  });

  it('is only the last text if that was requested', () => {
    expect(resultOf([REPORT, 'DONE'], 'Fix it. Say DONE when all tests pass.')).toBe('DONE');
    expect(resultOf([REPORT, 'DONE'], 'Fix it. Report when you are done.')).toBe(joined('DONE'));
  });

  it('counts an answer that was cut off and its rest as one', () => {
    const half = addAnswerText(
      addAnswerText(NO_ANSWER_TEXTS, REPORT, 'next'),
      'My full report is in my',
      'next',
    );
    const whole = addAnswerText(half, POINTER, 'continued');
    expect(whole).toMatchObject({ newest: POINTER, reports: [REPORT] });
    expect(addAnswerText(whole, '', 'continued')).toEqual(whole);
  });
});
