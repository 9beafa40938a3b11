import { expect, it } from 'vitest';
import { repeatedCalls } from '../../src/engine/progress.ts';
import type { Message } from '../../src/protocol/message.ts';

/** A round a letter: the same letter is the same call with the same result. */
function conversation(rounds: string): readonly Message[] {
  return [
    { role: 'user', content: [{ type: 'text', text: 'go' }] },
    ...[...rounds].flatMap((letter, index): Message[] => [
      {
        role: 'assistant',
        content: [{ type: 'tool_call', id: `c${index}`, name: 'Read', input: { file: letter } }],
      },
      {
        role: 'tool',
        content: [
          { type: 'tool_result', callId: `c${index}`, name: 'Read', text: letter, isError: false },
        ],
      },
    ]),
  ];
}

it.each([
  ['', 0],
  ['a', 0],
  ['ab', 0],
  ['aa', 2],
  ['xaaa', 3],
  ['aaax', 0],
  ['aba', 0],
  ['abab', 4],
  ['xyababab', 6],
  ['abcabc', 6],
  ['abcdabcdabcd', 12],
  ['abcdeabcde', 0],
  ['aabaab', 6],
])('%s: %i calls repeat', (rounds, calls) => {
  expect(repeatedCalls(conversation(rounds))).toBe(calls);
});

it('looks at a bounded part of a long conversation', () => {
  expect(repeatedCalls(conversation('ab'.repeat(2000)))).toBe(256);
});
