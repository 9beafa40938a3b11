import { expect, test } from 'vitest';
import { findCacheMinimum } from '../../../src/model/catalogue/catalogue.ts';

test.each([
  ['claude-opus-4-6', 4096],
  ['anthropic/claude-haiku-4.5', 4096],
  ['claude-haiku-4-5-20251001', 4096],
  ['claude-sonnet-4-6', 2048],
  ['claude-3-5-haiku-latest', 2048],
  ['claude-sonnet-4-5', 1024],
  ['claude-opus-4-1', 1024],
  ['gpt-6-sol', 1024],
])('%s caches prefixes of %i or more tokens', (id, tokens) => {
  expect(findCacheMinimum(id)).toBe(tokens);
});
