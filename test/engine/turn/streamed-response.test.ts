import { expect, it } from 'vitest';
import { estimateTokensUnrounded } from '../../../src/base/token-estimate.ts';
import { estimatePrompt } from '../../../src/engine/limits/estimate.ts';
import { StreamedResponse } from '../../../src/engine/turn/streamed-response.ts';
import type { Message } from '../../../src/protocol/message.ts';

const SENTENCE = 'The parser reads one line at a time. ';
const THOUGHT = 'Where is the parser? ';
const REQUEST = {
  prefix: { system: ['You look at one part.'], tools: [] },
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Look.' }] }] satisfies Message[],
};
const INPUT = estimatePrompt(REQUEST.prefix, REQUEST.messages);
const BROKEN = {
  type: 'failed',
  failure: { kind: 'server', message: 'it broke', retryable: true },
} as const;

function streamed(pieces: readonly string[], thoughts: readonly string[] = []): StreamedResponse {
  const all = new StreamedResponse();
  for (const text of thoughts) all.add({ type: 'reasoning_delta', text });
  for (const text of pieces) all.add({ type: 'text_delta', text });
  all.add({ type: 'tool_call_started', id: 'c1', name: 'Read' });
  return all;
}

it('charges nothing for an answer that had not begun', () => {
  expect(streamed([SENTENCE]).estimate(REQUEST, BROKEN)).toBeNull();
});

it('estimates the streamed text as one text, however it was cut', () => {
  const all = streamed([...SENTENCE], [...THOUGHT]);
  all.markAccepted();
  expect(all.text).toBe(SENTENCE);
  expect(all.estimate(REQUEST, { ...BROKEN, argumentCharacters: 35 })).toEqual({
    input: INPUT,
    output: Math.ceil(estimateTokensUnrounded(SENTENCE) + estimateTokensUnrounded(THOUGHT) + 10),
    cacheRead: 0,
    cacheWrite: 0,
    reasoning: Math.ceil(estimateTokensUnrounded(THOUGHT)),
  });
});

it('assumes that the part of a long answer that is not kept is like the rest', () => {
  const times = 10_000;
  const all = streamed(Array.from({ length: times }, () => SENTENCE));
  all.markAccepted();
  expect(all.text).toHaveLength(65_536);
  const output = all.estimate(REQUEST, BROKEN)?.output ?? 0;
  expect(output / estimateTokensUnrounded(SENTENCE.repeat(times))).toBeCloseTo(1, 2);
});
