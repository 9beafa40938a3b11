import { expect, test } from 'vitest';
import { createScriptedModel } from '../scripted-model.ts';
import { userMessage } from '../../src/protocol/message.ts';
import { NO_USAGE, type ModelFailure } from '../../src/protocol/model.ts';
import { collect, failed, finished, request } from './adapters/support.ts';

const ASKED = request([userMessage('Hi')]);
const BUSY: ModelFailure = { kind: 'overloaded', message: 'busy', retryable: true };

test('gives a complete answer', async () => {
  const model = createScriptedModel([
    {
      reasoning: 'Hm.',
      text: 'Looking.',
      calls: [
        { name: 'Read', input: { path: 'a' } },
        { name: 'Read', input: '{', malformed: '{', id: 'mine' },
      ],
      usage: { input: 5 },
    },
  ]);
  expect(await collect(model, ASKED)).toEqual([
    { type: 'accepted' },
    { type: 'reasoning_delta', text: 'Hm.' },
    { type: 'text_delta', text: 'Looking.' },
    { type: 'tool_call_started', id: 'call_1', name: 'Read' },
    { type: 'tool_call_started', id: 'mine', name: 'Read' },
    {
      type: 'finished',
      message: {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm.' },
          { type: 'text', text: 'Looking.' },
          { type: 'tool_call', id: 'call_1', name: 'Read', input: { path: 'a' } },
          { type: 'tool_call', id: 'mine', name: 'Read', input: '{', malformed: '{' },
        ],
      },
      usage: { ...NO_USAGE, input: 5 },
      reason: 'tool_calls',
    },
  ]);
  expect(model.requests).toEqual([ASKED]);
});

test('reports that a script has no more answers', async () => {
  const failure = failed(await collect(createScriptedModel([]), ASKED));
  expect(failure.message).toBe('the script has 0 answers, and this is request 1');
});

test('a function answers by request, and call ids continue from answer to answer', async () => {
  const model = createScriptedModel((asked, index) => ({
    text: `${index}: ${asked.messages.length}`,
    calls: [{ name: 'Read', input: {} }],
  }));
  const ids = [];
  for (let turn = 0; turn < 2; turn += 1) {
    const { message } = finished(await collect(model, ASKED));
    ids.push(message.content.flatMap((part) => (part.type === 'tool_call' ? [part.id] : [])));
  }
  expect(ids).toEqual([['call_1'], ['call_2']]);
});

test('gives failures before and after the first byte', async () => {
  const model = createScriptedModel([
    { failure: BUSY, refused: true },
    { text: 'Hel', failure: BUSY },
  ]);
  expect(await collect(model, ASKED)).toEqual([{ type: 'failed', failure: BUSY }]);
  expect(await collect(model, ASKED)).toEqual([
    { type: 'accepted' },
    { type: 'text_delta', text: 'Hel' },
    { type: 'failed', failure: BUSY },
  ]);
});

test('an abort ends the delay of an answer', async () => {
  const controller = new AbortController();
  const collected = collect(createScriptedModel([{ delayMs: 60_000 }]), ASKED, controller.signal);
  controller.abort();
  expect(failed(await collected).kind).toBe('cancelled');
});
