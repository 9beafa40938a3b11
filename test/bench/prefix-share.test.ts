import { expect, test } from 'vitest';
import {
  sharedByNextTurn,
  sharedBySiblings,
  sharedPercent,
} from '../../bench/harness/prefix-share.ts';

test.each([
  ['abcd', 'abcd', 100],
  ['abcd', 'abcdef', 100],
  ['abcd', 'abxd', 50],
  ['abcd', 'ab', 50],
  ['äb', 'äx', (100 * 2) / 3],
  ['abcd', '', 0],
])('the common beginning of %j and %j is %d %% of the first', (expected, actual, percent) => {
  expect(sharedPercent(expected, actual)).toBe(percent);
});

function request(system: readonly string[], messages: readonly string[]) {
  return {
    protocol: 'anthropic',
    body: {
      tools: [{ name: 'Read', input_schema: {} }],
      system: system.map((text, index) => ({
        type: 'text',
        text,
        ...(index === 0 ? { cache_control: { type: 'ephemeral' } } : {}),
      })),
      messages: messages.map((text) => ({ role: 'user', content: [{ type: 'text', text }] })),
    },
  } as const;
}

test('a turn that only appends shares everything, a turn that changes the beginning does not', () => {
  const first = request(['You help.'], ['Hello.']);
  expect(sharedByNextTurn(first, request(['You help.'], ['Hello.', 'More.']))).toBe(100);
  expect(sharedByNextTurn(first, request(['You helped.'], ['Hello.', 'More.']))).toBeLessThan(100);
  expect(sharedByNextTurn(first, request(['You help.'], []))).toBeLessThan(100);
});

test('siblings may differ in the last line of the system prompt and in their messages', () => {
  const one = request(['You help.', '# Task\nfind a'], ['Find a.']);
  expect(sharedBySiblings(one, request(['You help.', '# Task\nsee b'], ['See b.']))).toBe(100);
  expect(sharedBySiblings(one, request(['You b.', '# Task\nfind a'], ['See b.']))).toBeLessThan(
    100,
  );
});
