import { expect, it } from 'vitest';
import { measure, readSet } from './evaluate.ts';

const SETS = [
  'answers.jsonl',
  'false-claims.jsonl',
  'true-answers.jsonl',
  'true-answers-2.jsonl',
  'true-answers-3.jsonl',
];

const rates = measure(SETS.flatMap((name) => readSet(new URL(name, import.meta.url))));

it('finds at least 90 % of the false claims', () => {
  const { falseClaims, missed } = rates;
  expect(falseClaims).toBeGreaterThanOrEqual(100);
  expect(missed.length / falseClaims, missed.join(' ')).toBeLessThanOrEqual(0.1);
});

it('flags less than 3 % of the true answers', () => {
  const { trueAnswers, alarms } = rates;
  expect(trueAnswers).toBeGreaterThanOrEqual(200);
  expect(alarms.length / trueAnswers, alarms.join(' ')).toBeLessThan(0.03);
});
