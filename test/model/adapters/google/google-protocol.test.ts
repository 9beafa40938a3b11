import { expect, it } from 'vitest';
import { googleProtocol } from '../../../../src/model/adapters/google/google-protocol.ts';
import { readQuirk, stream, type Quirk } from '../read-answer.ts';

const MODEL = { dialect: googleProtocol, model: 'gemini-3-pro' };
const INPUT = { path: 'a.ts' };
const CALLED = { calls: [['Read', INPUT]], reason: 'tool_calls' } as const;
const USAGE = { promptTokenCount: 9, candidatesTokenCount: 3 };

const chunk = (parts: readonly unknown[], more: object = {}, usage: unknown = USAGE) => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, ...more }],
  usageMetadata: usage,
  modelVersion: MODEL.model,
});
const text = (said: string, more: object = {}) => chunk([{ text: said }], more);
const STOP = { finishReason: 'STOP' };
const call = (more: object = {}) => ({ functionCall: { name: 'Read', args: INPUT, ...more } });

const QUIRKS: readonly Quirk[] = [
  ['nothing odd', [text('hi', STOP)], { text: 'hi' }],
  ['candidates that are absent', [{ usageMetadata: USAGE }, text('hi', STOP)], { text: 'hi' }],
  [
    'candidates that are null',
    [{ candidates: null }, text('hi', STOP)],
    { text: 'hi', repairs: { missing_choices: 1 } },
  ],
  [
    'a candidate without content',
    [{ candidates: [{ index: 0 }] }, text('hi', STOP)],
    { text: 'hi' },
  ],
  [
    'content without parts',
    [text('hi'), { candidates: [{ content: { role: 'model' }, ...STOP }], usageMetadata: USAGE }],
    { text: 'hi' },
  ],
  [
    'a part of unknown type',
    [chunk([{ newPart: { x: 1 } }, { text: 'hi' }], STOP)],
    { text: 'hi', repairs: { unknown_block: 1 } },
  ],
  [
    'no usage',
    [{ ...chunk([{ text: 'hi' }], STOP), usageMetadata: undefined }],
    { text: 'hi', usageMissing: 'all', repairs: { missing_usage: 1 } },
  ],
  [
    'usage that is null',
    [chunk([{ text: 'hi' }], STOP, null)],
    { text: 'hi', usageMissing: 'all', repairs: { missing_usage: 1 } },
  ],
  [
    'usage without the answer',
    [chunk([{ text: 'hi' }], STOP, { promptTokenCount: 9 })],
    { text: 'hi', usageMissing: 'output', repairs: { partial_usage: 1 } },
  ],
  [
    'a finish reason in every chunk',
    [text('h', STOP), text('e', STOP), text('y', STOP)],
    { text: 'hey', repairs: { content_after_end: 1 } },
  ],
  [
    'a clean end without a finish reason',
    [text('hi')],
    { text: 'hi', usageMissing: 'output', repairs: { missing_finish_reason: 1, partial_usage: 1 } },
  ],
  [
    'a call without a finish reason',
    [chunk([call()])],
    { ...CALLED, usageMissing: 'output', repairs: { missing_finish_reason: 1, partial_usage: 1 } },
  ],
  [
    'a call without args',
    [chunk([{ functionCall: { name: 'Read' } }], STOP)],
    { calls: [['Read', {}]], reason: 'tool_calls' },
  ],
  [
    'args that are text',
    [chunk([call({ args: JSON.stringify(INPUT) })], STOP)],
    { ...CALLED, repairs: { arguments_encoded_twice: 1 } },
  ],
  [
    'two calls in a chunk',
    [chunk([call(), call({ args: { path: 'b' } })], STOP)],
    {
      calls: [
        ['Read', INPUT],
        ['Read', { path: 'b' }],
      ],
      reason: 'tool_calls',
    },
  ],
  [
    'plain JSON in place of a stream',
    { contentType: 'application/json', body: JSON.stringify(text('hi', STOP)) },
    { text: 'hi', repairs: { json_instead_of_stream: 1 } },
  ],
  [
    'a JSON array in place of a stream',
    {
      contentType: 'application/json',
      body: JSON.stringify([text('h'), text('i', STOP)], null, 1),
    },
    { text: 'hi', repairs: { json_instead_of_stream: 1 } },
  ],
  ['[DONE] behind the end', [text('hi', STOP), '[DONE]'], { text: 'hi' }],
  ['carriage returns', stream([text('hi', STOP)], '\r'), { text: 'hi' }],
  [
    'a complete answer, then a reset',
    { ...stream([text('hi', STOP)]), reset: true },
    { text: 'hi', repairs: { broken_connection_after_end: 1 } },
  ],
  [
    'thinking in the text',
    [text('<think>Hm.</think>hi', STOP)],
    { text: 'hi', thinking: 'Hm.', repairs: { thinking_in_text: 1 } },
  ],
  [
    'a thought',
    [chunk([{ text: 'Hm.', thought: true }, { text: 'hi' }], STOP)],
    { text: 'hi', thinking: 'Hm.' },
  ],
  [
    'the end at the limit',
    [text('hi', { finishReason: 'MAX_TOKENS' })],
    { text: 'hi', reason: 'length' },
  ],
];

it.each(QUIRKS)('%s', async (_name, sent, read) => {
  expect(await readQuirk(MODEL, sent)).toEqual(read);
});
