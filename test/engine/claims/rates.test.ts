import { expect, it } from 'vitest';
import { measure, readSet } from './evaluate.ts';

const FALSE_CLAIMS = readSet(new URL('false-claims.jsonl', import.meta.url));
const TRUE_ANSWERS = readSet(new URL('true-answers.jsonl', import.meta.url));

it('finds nearly all false claims', () => {
  const { falseClaims, missed } = measure(FALSE_CLAIMS);
  expect(falseClaims).toBeGreaterThanOrEqual(120);
  expect(missed.length / falseClaims, missed.join(' ')).toBeLessThanOrEqual(0.05);
});

it('flags hardly any true answer', () => {
  const { trueAnswers, alarms } = measure(TRUE_ANSWERS);
  expect(trueAnswers).toBeGreaterThanOrEqual(250);
  expect(alarms.length / trueAnswers, alarms.join(' ')).toBeLessThanOrEqual(0.01);
});
