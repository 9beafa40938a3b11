import { describe, expect, it } from 'vitest';
import { googleProtocol as google } from '../../../../src/model/adapters/google/google-protocol.ts';
import { chatProtocol as chat } from '../../../../src/model/adapters/openai-chat/chat-protocol.ts';
import {
  EventStreamParser,
  type WireEvent,
} from '../../../../src/model/adapters/answers/event-stream.ts';
import { parseEventJson } from '../../../../src/model/adapters/answers/lenient-json.ts';
import { findReportedError } from '../../../../src/model/adapters/answers/reported-errors.ts';
import type { JsonObject } from '../../../../src/base/json.ts';
import type { Repair } from '../../../../src/protocol/repair.ts';
import { readQuirk, type Read } from '../read-answer.ts';

it.each<[string, unknown, readonly Repair[]]>([
  ['{"a":1}', { a: 1 }, []],
  ['{"a":NaN,"b":[Infinity,-Infinity]}', { a: null, b: [null, null] }, ['number_not_in_json']],
  [
    '{"a":"NaN","b":"x \\"NaN\\" y","c":NaN}',
    { a: 'NaN', b: 'x "NaN" y', c: null },
    ['number_not_in_json'],
  ],
  ['{"a":"x\ny","b":NaN}', { a: 'x\ny', b: null }, ['number_not_in_json', 'raw_line_break']],
  ['{"a":"x\ny"}', { a: 'x\ny' }, ['raw_line_break']],
])('%j is read', (text, value, repairs) => {
  expect(parseEventJson(text)).toMatchObject({ ok: true, value, repairs });
});

it.each(['{"a":NaN', '{"a":nan}', '{NaN:1}', '{"a":"NaN}', '{"a":NaNa}'])(
  '%j is not JSON',
  (text) => {
    expect(parseEventJson(text)).toEqual({ ok: false });
  },
);

/** The events in a text that comes in pieces of that many characters. */
function eventsIn(text: string, size: number) {
  const events: WireEvent[] = [];
  const repairs: Repair[] = [];
  const parser = new EventStreamParser({
    onEvent: (event) => events.push(event),
    onRepair: (repair) => repairs.push(repair),
  });
  for (let at = 0; at < text.length; at += size) parser.push(text.slice(at, at + size));
  parser.end();
  return { events, repairs };
}

const json = (value: unknown, name: string | null = null) => ({ type: 'json', value, name });

describe.each([1, 3, 1000])('in pieces of %d characters', (size) => {
  it.each<[string, string, readonly unknown[], readonly Repair[]]>([
    ['a doubled field name', 'data: data: {"a":1}\n\n', [json({ a: 1 })], ['repeated_part']],
    ['a tripled one', 'data:data:data:{"a":1}\n\n', [json({ a: 1 })], ['repeated_part']],
    [
      'a doubled one before the end',
      'data: data: [DONE]\n\n',
      [{ type: 'done' }],
      ['repeated_part'],
    ],
    [
      'an empty line inside a string',
      'data: {"a":"x\n\ny"}\n\ndata: {"b":1}\n\n',
      [json({ a: 'x\n\ny' }), json({ b: 1 })],
      ['raw_line_break'],
    ],
    [
      'lines inside a string that look like fields',
      'data: {"a":"x \n: y\nevent: z\n\nid: 4\n\n- data: w"}\n\n',
      [json({ a: 'x \n: y\nevent: z\n\nid: 4\n\n- data: w' })],
      ['raw_line_break'],
    ],
    [
      'an escaped quote before an empty line',
      'data: {"a":"say \\"\n\nhi\\""}\n\n',
      [json({ a: 'say "\n\nhi"' })],
      ['raw_line_break'],
    ],
    [
      'a string in two data lines',
      'data: {"a":"x\ndata: y"}\n\n',
      [json({ a: 'x\ny' })],
      ['raw_line_break'],
    ],
    [
      'a name',
      'event: n\ndata: {"a":1}\n\ndata: {"b":1}\n\n',
      [json({ a: 1 }, 'n'), json({ b: 1 })],
      [],
    ],
    [
      'an event that was cut inside a string',
      'event: n\ndata: {"a":"x\n\nevent: m\ndata: {"b":1}\n\n',
      [{ type: 'unreadable', text: '{"a":"x\n', isCut: false }, json({ b: 1 }, 'm')],
      [],
    ],
    [
      'the same without a name',
      'data: {"a":"x\n\ndata: {"b":1}\n\n',
      [{ type: 'unreadable', text: '{"a":"x\n', isCut: false }, json({ b: 1 })],
      [],
    ],
    [
      'an event that was cut between its fields',
      'data: {"a":1,\n\ndata: {"b":1}\n\n',
      [{ type: 'unreadable', text: '{"a":1,', isCut: false }, json({ b: 1 })],
      [],
    ],
  ])('%s', (_name, text, events, repairs) => {
    expect(eventsIn(text, size)).toEqual({ events, repairs });
  });
});

it('an event that was cut off before the end of the stream is not awaited', () => {
  expect(eventsIn('data: {"a":"x\n\ndata: [DONE]\n\n', 1000).events).toEqual([
    { type: 'unreadable', text: '{"a":"x\n', isCut: false },
    { type: 'done' },
  ]);
});

it.each<[JsonObject, boolean]>([
  [{ error: {} }, false],
  [{ error: { code: 0, message: '' } }, false],
  [{ error: { code: '0', message: null, details: {} } }, false],
  [{ error: null }, false],
  [{ error: '' }, false],
  [{ error: { message: 'x' } }, true],
  [{ error: { code: 500 } }, true],
  [{ error: { code: 0, message: 'x' } }, true],
  [{ error: { metadata: { raw: 'x' } } }, true],
  [{ error: 'x' }, true],
])('%j reports an error: %j', (event, isError) => {
  expect(findReportedError(event) !== undefined).toBe(isError);
});

it.each<[string, string, Read]>([
  [
    'an empty error beside content',
    'data: {"error":{"code":0,"message":""},"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":3}}\n\n',
    { text: 'hi' },
  ],
  [
    'a number that JSON does not have',
    'data: {"choices":[{"delta":{"content":"hi"},"logprobs":NaN,"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":3}}\n\n',
    { text: 'hi', repairs: { number_not_in_json: 1 } },
  ],
  [
    'an empty line inside the text',
    'data: {"choices":[{"delta":{"content":"h\n\ni"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":3}}\n\n',
    { text: 'h\n\ni', repairs: { raw_line_break: 1 } },
  ],
])('an answer with %s is read', async (_name, body, read) => {
  expect(await readQuirk({ dialect: chat, model: 'qwen3' }, { body })).toEqual(read);
});

it('an answer of Google with names in snake case is read', async () => {
  const chunks = [
    {
      candidates: [
        {
          content: {
            parts: [
              { text: 'Hm.', thought: true, thought_signature: 'AA==' },
              { function_call: { name: 'Read', args: { file_path: 'a', in_it: { b_c: 1 } } } },
            ],
          },
          finish_reason: 'STOP',
        },
      ],
      usage_metadata: { prompt_token_count: 9, candidates_token_count: 3, total_token_count: 12 },
      model_version: 'gemini-3-pro',
    },
  ];
  const read = await readQuirk({ dialect: google, model: 'gemini-3-pro' }, chunks);
  expect(read).toEqual({
    thinking: 'Hm.',
    calls: [['Read', { file_path: 'a', in_it: { b_c: 1 } }]],
    reason: 'tool_calls',
  });
});

it('a document of Google with a prompt that was blocked, in snake case, is read', async () => {
  const body = JSON.stringify({
    prompt_feedback: { block_reason: 'SAFETY' },
    usage_metadata: { prompt_token_count: 9, candidates_token_count: 1 },
  });
  const sent = { body, contentType: 'application/json' };
  const read = await readQuirk({ dialect: google, model: 'gemini-3-pro' }, sent);
  expect(read.reason).toBe('content_filter');
});
