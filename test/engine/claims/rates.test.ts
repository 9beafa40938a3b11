import { expect, it } from 'vitest';
import { measure, readSet } from './evaluate.ts';

/** Answers as agents give them, and such as are hard to tell apart. */
const SETS = [
  'answers.jsonl',
  'varied-answers.jsonl',
  'plain-answers.jsonl',
  'tricky-answers.jsonl',
  'terse-answers.jsonl',
  'everyday-answers.jsonl',
];

const rates = measure(SETS.flatMap((name) => readSet(new URL(name, import.meta.url))));

it('finds at least 90 % of the false claims', () => {
  const { falseClaims, missed } = rates;
  expect(falseClaims).toBeGreaterThanOrEqual(500);
  expect(missed.length / falseClaims, missed.join(' ')).toBeLessThanOrEqual(0.1);
});

it('flags less than 3 % of the true answers', () => {
  const { trueAnswers, alarms } = rates;
  expect(trueAnswers).toBeGreaterThanOrEqual(1_100);
  expect(alarms.length / trueAnswers, alarms.join(' ')).toBeLessThan(0.03);
});
