import { expect, it } from 'vitest';
import { isMeantBy } from '../../src/protocol/question.ts';

it.each([
  ['4o6fij6ze86hq10', true],
  ['4o6fij6ze86h', true],
  ['4o6', true],
  ['4o6fij6ze86hq1', false],
  ['4o6fij6ze86hq', true],
  ['o6f', false],
  ['', false],
])('%j means question 10 of a task: %j', (word, means) => {
  expect(isMeantBy({ id: '4o6fij6ze86hq10', task: '4o6fij6ze86h' }, word)).toBe(means);
});
