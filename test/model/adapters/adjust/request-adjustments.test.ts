import {
  ADJUSTMENT_NAMES,
  type AdjustmentName,
} from '../../../../src/model/settings/adjustment-names.ts';
import { describe, expect, it } from 'vitest';
import { createAdapter } from '../../../../src/model/adapters/adapter.ts';
import { anthropicProtocol as anthropic } from '../../../../src/model/adapters/anthropic/anthropic-protocol.ts';
import { RequestAdjustments } from '../../../../src/model/adapters/adjust/request-adjustments.ts';
import { HttpStatusError } from '../../../../src/model/adapters/errors/answer-errors.ts';
import { chatProtocol as chat } from '../../../../src/model/adapters/openai-chat/chat-protocol.ts';
import { userMessage } from '../../../../src/protocol/message.ts';

import { adapterDeps, collect, request, serve, sse } from '../support.ts';

const user = { role: 'user', content: 'Hi' };
const called = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'call_1', type: 'function' }],
};
const result = { role: 'tool', tool_call_id: 'call_1', content: 'A' };
const shortened = {
  called: { ...called, tool_calls: [{ id: '74196fe72', type: 'function' }] },
  result: { ...result, tool_call_id: '74196fe72' },
};

const URL = 'http://127.0.0.1:8080/v1';

/** What a server says, to which body, and the body that it is sent then. */
const ROWS: readonly (readonly [AdjustmentName, string, object, object])[] = [
  [
    'stream_options',
    'Unrecognized request argument supplied: stream_options',
    { stream_options: {} },
    {},
  ],
  [
    'parallel_tool_calls',
    "Unknown parameter: 'parallel_tool_calls'.",
    { parallel_tool_calls: true },
    {},
  ],
  [
    'temperature',
    "Unsupported value: 'temperature' does not support 0 with this model.",
    { temperature: 0 },
    {},
  ],
  ['top_p', '`top_p` is not supported', { top_p: 1 }, {}],
  [
    'prompt_cache_key',
    '[{"loc":["body","prompt_cache_key"],"msg":"Extra inputs are not permitted"}]',
    { prompt_cache_key: 'k' },
    {},
  ],
  [
    'tool_choice',
    'deepseek-reasoner does not support this tool_choice',
    { tool_choice: 'auto' },
    {},
  ],
  ['store', "Unknown parameter: 'store'.", { store: false }, {}],
  ['include', '{"detail":"Unsupported parameter: include"}', { include: ['a'] }, {}],
  [
    'strict',
    '{"detail":[{"type":"extra_forbidden","loc":["body","tools",0,"function","strict"],"msg":"Extra inputs are not permitted"}]}',
    { tools: [{ type: 'function', function: { name: 'Read', strict: false } }] },
    { tools: [{ type: 'function', function: { name: 'Read' } }] },
  ],
  [
    'custom_tools',
    "Invalid value: 'custom'. Supported values are: 'function' and 'web_search'.",
    {
      input: [
        { type: 'custom_tool_call', call_id: 'c1', name: 'apply_patch', input: 'x' },
        { type: 'custom_tool_call_output', call_id: 'c1', output: 'done' },
      ],
      tools: [{ type: 'custom', name: 'apply_patch', description: 'Patches.' }],
    },
    {
      input: [
        { type: 'function_call', call_id: 'c1', name: 'apply_patch', arguments: '{"input":"x"}' },
        { type: 'function_call_output', call_id: 'c1', output: 'done' },
      ],
      tools: [
        {
          type: 'function',
          name: 'apply_patch',
          description: 'Patches.',
          parameters: {
            type: 'object',
            properties: { input: { type: 'string' } },
            required: ['input'],
          },
          strict: false,
        },
      ],
    },
  ],
  [
    'eager_input_streaming',
    'tools.0.custom.eager_input_streaming: Extra inputs are not permitted',
    { tools: [{ name: 'Read', eager_input_streaming: false }] },
    { tools: [{ name: 'Read' }] },
  ],
  [
    'cache_control',
    'system.0.cache_control: Extra inputs are not permitted',
    {
      system: [{ type: 'text', text: 'Be kind.', cache_control: {} }],
      tools: [{ name: 'Read', cache_control: {} }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: {} }] }],
    },
    {
      system: [{ type: 'text', text: 'Be kind.' }],
      tools: [{ name: 'Read' }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    },
  ],
  [
    'max_tokens',
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    { max_tokens: 5 },
    { max_completion_tokens: 5 },
  ],
  [
    'max_completion_tokens',
    'unknown field "max_completion_tokens"',
    { max_completion_tokens: 5 },
    { max_tokens: 5 },
  ],
  [
    'output_limit',
    '{"detail":"Unsupported parameter: max_output_tokens"}',
    { max_output_tokens: 5 },
    {},
  ],
  [
    'developer_role',
    "Unexpected role 'developer'",
    { messages: [{ role: 'developer', content: 'Be kind.' }, user] },
    { messages: [{ role: 'system', content: 'Be kind.' }, user] },
  ],
  [
    'system_role',
    'System role not supported',
    { messages: [{ role: 'system', content: 'Be kind.' }, user] },
    { messages: [{ role: 'user', content: 'Be kind.\n\nHi' }] },
  ],
  [
    'long_call_ids',
    'Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.',
    { messages: [user, called, result] },
    { messages: [user, shortened.called, shortened.result] },
  ],
  [
    'user_after_tool',
    "Unexpected role 'user' after role 'tool'",
    { messages: [user, called, result, user] },
    { messages: [user, called, result, { role: 'assistant', content: 'OK.' }, user] },
  ],
  [
    'calls_without_reasoning',
    'thinking is enabled but reasoning_content is missing in assistant tool call message at index 1',
    { messages: [user, called, result] },
    { messages: [user, { ...called, reasoning_content: ' ' }, result] },
  ],
  [
    'reasoning_content',
    "property 'reasoning_content' is unsupported",
    { messages: [user, { role: 'assistant', content: 'A', reasoning_content: 'Hm.' }] },
    { messages: [user, { role: 'assistant', content: 'A' }] },
  ],
];

function refusal(status: number, body: string, sent: object): HttpStatusError {
  return new HttpStatusError(
    {
      url: `${URL}/chat/completions`,
      status,
      headers: {},
      responseBody: body,
      requestBody: JSON.stringify(sent),
    },
    'Bad Request',
  );
}

describe('an adjustment', () => {
  it('has a test for each name', () => {
    expect(ROWS.map(([name]) => name)).toEqual([...ADJUSTMENT_NAMES]);
  });

  it.each(ROWS)('%s is learned from the message of the server', (_name, said, sent, then) => {
    for (const status of [400, 422]) {
      const adjustments = new RequestAdjustments();
      expect(adjustments.learn('m', refusal(status, said, sent))).toBe(true);
      expect(JSON.parse(adjustments.apply('m', JSON.stringify(sent)))).toEqual(then);
    }
  });

  it.each(ROWS)(
    '%s applies from the first request on if the user’s settings say so',
    (name, _said, sent, then) => {
      const adjustments = new RequestAdjustments([name]);
      expect(JSON.parse(adjustments.apply('m', JSON.stringify(sent)))).toEqual(then);
    },
  );

  it.each(ROWS)(
    '%s is learned once, and not again for the same words',
    (_name, said, sent, then) => {
      const adjustments = new RequestAdjustments();
      adjustments.learn('m', refusal(400, said, sent));
      expect(adjustments.learn('m', refusal(400, said, then))).toBe(false);
    },
  );

  it.each([401, 403, 404, 429, 500])('is not learned from HTTP %i', (status) => {
    expect(
      new RequestAdjustments().learn(
        'm',
        refusal(status, 'stream_options', { stream_options: {} }),
      ),
    ).toBe(false);
  });

  it('is not learned from a refusal of a part that was not sent', () => {
    expect(new RequestAdjustments().learn('m', refusal(400, 'stream_options', {}))).toBe(false);
  });

  it('for a model applies only to that model, and for a server to all of its models', () => {
    const sent = { temperature: 0, stream_options: {} };
    const adjustments = new RequestAdjustments();
    adjustments.learn('a', refusal(400, 'temperature', sent));
    adjustments.learn('a', refusal(400, 'stream_options', sent));
    expect(JSON.parse(adjustments.apply('a', JSON.stringify(sent)))).toEqual({});
    expect(JSON.parse(adjustments.apply('b', JSON.stringify(sent)))).toEqual({ temperature: 0 });
  });

  it("is known for Mistral's models before their server refuses anything", () => {
    const sent = JSON.stringify({ messages: [user, called, result, user] });
    const { messages } = JSON.parse(
      new RequestAdjustments().apply('mistral-large-latest', sent),
    ) as {
      messages: unknown;
    };
    expect(messages).toEqual([
      user,
      shortened.called,
      shortened.result,
      { role: 'assistant', content: 'OK.' },
      user,
    ]);
  });
});

const ANSWERS = {
  chat: sse([
    { choices: [{ index: 0, delta: { content: 'hi' }, finish_reason: 'stop' }] },
    '[DONE]',
  ]),
  anthropic: sse([
    {
      type: 'message_start',
      message: { role: 'assistant', content: [], usage: { input_tokens: 1, output_tokens: 1 } },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'hi' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ]),
};

const system = { role: 'system', content: 'Be kind.' };
const developer = { role: 'developer', content: 'Be kind.' };
const merged = { role: 'user', content: 'Be kind.\n\nHi' };

/** Other words for the same refusals, as the body of an error. */
const WORDINGS: readonly (readonly [said: unknown, sent: object, then: object])[] = [
  ...[
    'Only user and assistant roles are supported!',
    'Conversation roles must alternate user/assistant/user/assistant/...',
    "This model doesn't support system messages.",
    'system messages are not supported',
    "'system' is not one of ['user', 'assistant'] - 'messages.0.role'",
    'Developer instruction is not enabled for models/gemma-3-27b-it',
    'Please ensure that roles are valid: role must be one of user, assistant',
  ].map(
    (message) =>
      [{ error: { message } }, { messages: [system, user] }, { messages: [merged] }] as const,
  ),
  [
    {
      detail: [
        {
          type: 'literal_error',
          loc: ['body', 'messages', 0, 'role'],
          msg: "Input should be 'user' or 'assistant'",
          input: 'system',
          ctx: { expected: "'user' or 'assistant'" },
        },
      ],
    },
    { messages: [system, user] },
    { messages: [merged] },
  ],
  [
    { error: { message: "Input should be 'system', 'user' or 'assistant'" } },
    { messages: [developer, user] },
    { messages: [system, user] },
  ],
  [
    { error: { message: 'Only user and assistant roles are supported!' } },
    { messages: [developer, user] },
    { messages: [merged] },
  ],
  [
    { error: { message: 'Conversation roles must alternate user/assistant/user/assistant/...' } },
    { messages: [system, user, called, result, user] },
    { messages: [system, user, called, result, { role: 'assistant', content: 'OK.' }, user] },
  ],
  [
    { error: { message: 'System role not supported' } },
    { input: [system, system, { role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }] },
    {
      input: [
        {
          role: 'user',
          content: ['Be kind.', 'Be kind.', 'Hi'].map((text) => ({ type: 'input_text', text })),
        },
      ],
    },
  ],
  [
    { error: { message: 'Developer instruction is not enabled for models/gemma-3-27b-it' } },
    {
      systemInstruction: { parts: [{ text: 'Be kind.' }] },
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
    },
    { contents: [{ role: 'user', parts: [{ text: 'Be kind.' }, { text: 'Hi' }] }] },
  ],
  ...[
    'max_tokens: this field is not allowed',
    'Invalid parameter: max_tokens',
    'Please use max_completion_tokens instead of max_tokens',
    "this model doesn't support max_tokens",
  ].map(
    (message) => [{ error: { message } }, { max_tokens: 5 }, { max_completion_tokens: 5 }] as const,
  ),
  [
    {
      error: {
        message: 'The `content[].thinking` in the thinking mode must be passed back to the API.',
      },
    },
    {
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'Read', input: {} }] },
      ],
    },
    {
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: ' ', signature: '' },
            { type: 'tool_use', id: 'a', name: 'Read', input: {} },
          ],
        },
      ],
    },
  ],
  [
    { error: { message: '{"error":{"message":"stream_options is not supported"}}' } },
    { stream_options: {} },
    {},
  ],
  [
    { errors: [{ message: 'Unknown field', details: [{ field: 'stream_options' }] }] },
    { stream_options: {} },
    {},
  ],
  [
    { error: { message: 'Unrecognized request argument: tools[0].strict' } },
    { tools: [{ name: 'Read', strict: false }] },
    { tools: [{ name: 'Read' }] },
  ],
];

describe('other wordings', () => {
  it.each(WORDINGS)('%j', (said, sent, then) => {
    const adjustments = new RequestAdjustments();
    expect(adjustments.learn('m', refusal(400, JSON.stringify(said), sent))).toBe(true);
    expect(JSON.parse(adjustments.apply('m', JSON.stringify(sent)))).toEqual(then);
  });

  it.each([
    // FastAPI sends the refused request back.
    {
      detail: [
        {
          type: 'missing',
          loc: ['body', 'model'],
          msg: 'Field required',
          input: { messages: [{ content: 'What are stream_options, temperature and store?' }] },
          ctx: { error: 'temperature' },
          url: 'https://errors.example/stream_options',
        },
      ],
    },
    { error: { message: 'Unknown model. You must include one that we store, strict or not' } },
    { error: { message: 'max_output_tokens: 99999 is not supported, at most 8192' } },
    { error: { message: 'A maximum of 4 blocks with cache_control may be provided. Found 5.' } },
    { error: { message: "Input should be 'user', 'assistant', 'system' or 'tool'" } },
  ])('nothing is learned from %j', (said) => {
    const sent = {
      stream_options: {},
      temperature: 0,
      store: false,
      include: ['a'],
      max_output_tokens: 99_999,
      messages: [system, { ...user, cache_control: {} }],
      tools: [{ name: 'Read', strict: false }],
    };
    expect(new RequestAdjustments().learn('m', refusal(422, JSON.stringify(said), sent))).toBe(
      false,
    );
  });

  it('a limit that is refused under both of its names is left out', () => {
    const sent = { max_tokens: 5, messages: [user] };
    const adjustments = new RequestAdjustments();
    const learn = (field: string) => {
      const now: object = JSON.parse(adjustments.apply('m', JSON.stringify(sent)));
      expect(now).toHaveProperty(field);
      const said = `{"detail":"Unsupported parameter: ${field}"}`;
      expect(adjustments.learn('m', refusal(400, said, now))).toBe(true);
    };
    learn('max_tokens');
    learn('max_completion_tokens');
    expect(JSON.parse(adjustments.apply('m', JSON.stringify(sent)))).toEqual({ messages: [user] });
  });
});

describe('over HTTP', () => {
  it('a server that refuses two parameters gets three requests, and later one each', async () => {
    await using server = await serve((response, { body }) => {
      const refused = ['stream_options', 'max_tokens'].find((name) => body.includes(`"${name}"`));
      if (refused === undefined) {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(ANSWERS.chat);
        return;
      }
      const said = JSON.stringify({ error: { message: `Unsupported parameter: ${refused}` } });
      response.writeHead(400, { 'content-type': 'application/json' }).end(said);
    });
    const endpoint = { name: 'test', baseUrl: server.url, apiKey: null };
    const port = createAdapter(chat, endpoint, adapterDeps());
    const asked = request([userMessage('Hi')], { maxOutputTokens: 99 });
    expect((await collect(port, asked)).at(-1)).toMatchObject({ type: 'finished' });
    expect(server.requests).toHaveLength(3);
    expect((await collect(port, asked)).at(-1)).toMatchObject({ type: 'finished' });
    expect(server.requests).toHaveLength(4);
    expect(JSON.parse(server.requests[3]?.body ?? '')).toMatchObject({ max_completion_tokens: 99 });
  });

  it('a server that always refuses the same part is not asked for ever', async () => {
    await using server = await serve((response) => {
      const said = JSON.stringify({ error: { message: 'tool_choice temperature max_tokens' } });
      response.writeHead(400, { 'content-type': 'application/json' }).end(said);
    });
    const endpoint = { name: 'test', baseUrl: server.url, apiKey: 'key' };
    const asked = request([userMessage('Hi')], { maxOutputTokens: 99 });
    const last = (await collect(createAdapter(anthropic, endpoint, adapterDeps()), asked)).at(-1);
    expect(last).toMatchObject({ type: 'failed', failure: { retryable: false } });
    expect(server.requests.length).toBeLessThanOrEqual(3);
  });
});
