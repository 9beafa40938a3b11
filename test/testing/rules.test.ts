import { describe, expect, it } from 'vitest';
import { answerByRules, type RuleCondition } from '../../src/testing/rules.ts';
import { RequestRecorder } from '../../src/testing/request-recorder.ts';
import { requestOf } from './request-of.ts';

const CONVERSATION = {
  model: 'big',
  system: [{ type: 'text', text: 'You explore.' }],
  tools: [{ name: 'Grep', input_schema: {} }],
  messages: [
    { role: 'user', content: 'find the needle' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'Grep', input: {} }] },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 't', content: 'hay', is_error: true },
        { type: 'text', text: 'hurry' },
      ],
    },
  ],
};

describe('a condition', () => {
  it.each<[RuleCondition, boolean]>([
    [{}, true],
    [{ protocol: 'anthropic' }, true],
    [{ protocol: 'chat' }, false],
    [{ model: 'big' }, true],
    [{ model: 'bi' }, false],
    [{ systemIncludes: 'explore' }, true],
    [{ systemIncludes: 'needle' }, false],
    [{ promptIncludes: 'needle' }, true],
    [{ promptIncludes: 'hurry' }, false],
    [{ lastUserIncludes: 'hurry' }, true],
    [{ lastUserIncludes: 'hay' }, false],
    [{ bodyIncludes: 'hay' }, true],
    [{ bodyIncludes: 'straw' }, false],
    [{ offersTool: 'Grep' }, true],
    [{ offersTool: 'Write' }, false],
    [{ toolResults: 1 }, true],
    [{ toolResults: 0 }, false],
    [{ attempt: 1 }, true],
    [{ attempt: [2, 3] }, false],
    [{ inFlightAbove: 0 }, true],
    [{ inFlightAbove: 1 }, false],
    [{ nth: [1, 2] }, true],
    [{ nth: 2 }, false],
    [{ model: 'big', systemIncludes: 'nothing of it' }, false],
  ])('%j fits: %s', async (when, fits) => {
    const handler = answerByRules([{ when, answer: { text: 'yes' } }, { answer: { text: 'no' } }]);
    expect(await handler(requestOf(CONVERSATION))).toEqual({ text: fits ? 'yes' : 'no' });
  });
});

it('counts `nth` over the requests that match the rest of the rule', async () => {
  const handler = answerByRules([
    { when: { model: 'a', nth: 2 }, answer: { text: 'second a' } },
    { when: { model: 'a' }, answer: { text: 'an a' } },
    { answer: { text: 'other' } },
  ]);
  const answers = [];
  for (const model of ['a', 'b', 'a', 'b', 'a']) {
    answers.push((await handler(requestOf({ model, messages: [] }))).text);
  }
  expect(answers).toEqual(['an a', 'other', 'second a', 'other', 'an a']);
});

it('counts attempts by the body', () => {
  const recorder = new RequestRecorder({ keep: true });
  const bodies = [{ model: 'a' }, { model: 'b' }, { model: 'a' }];
  expect(bodies.map((body) => requestOf(body, recorder).attempt)).toEqual([1, 1, 2]);
});

it('refuses a request that no rule matches, and names it', () => {
  const handler = answerByRules([{ when: { model: 'small' }, answer: {} }]);
  expect(() => handler(requestOf(CONVERSATION))).toThrow(
    /no rule fits request 1 \(anthropic, model big, 1 rounds of tool results, .*hurry/,
  );
});
