import { expect, it } from 'vitest';
import { measure, readSet } from './evaluate.ts';

const FALSE_CLAIMS = ['false-claims.jsonl', 'false-claims-2.jsonl', 'false-claims-3.jsonl'];
const TRUE_ANSWERS = ['true-answers.jsonl', 'true-answers-2.jsonl', 'true-answers-3.jsonl'];

function setOf(name: string) {
  return readSet(new URL(name, import.meta.url));
}

it.each(FALSE_CLAIMS)('finds at least 90 % of %s', (name) => {
  const { falseClaims, missed } = measure(setOf(name));
  expect(falseClaims).toBeGreaterThanOrEqual(70);
  expect(missed.length / falseClaims, missed.join(' ')).toBeLessThanOrEqual(0.1);
});

it.each(TRUE_ANSWERS)('flags less than 3 % of %s', (name) => {
  const { trueAnswers, alarms } = measure(setOf(name));
  expect(trueAnswers).toBeGreaterThanOrEqual(65);
  expect(alarms.length / trueAnswers, alarms.join(' ')).toBeLessThan(0.03);
});
