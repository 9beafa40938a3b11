import { expect, test } from 'vitest';
import { contextLines } from '../../../src/api/tasks/context-lines.ts';

test.each([
  ['anthropic/x', 1000, '1000 tokens, 900 left (90 %)'],
  ['anthropic/x', null, 'unknown: no configured provider has a model of that name'],
  ['offline/offline', null, 'none: the offline engine has no limit'],
])('the window of %s, %s tokens: %s', (model, window, expected) => {
  const left = window === null ? null : window - 100;
  const request = { task: 't', turn: 1, turns: 1, parts: [], bytes: 1, tokens: 1, counted: null };
  expect(contextLines({ ...request, model, window, left })).toContain(`window    ${expected}`);
});
