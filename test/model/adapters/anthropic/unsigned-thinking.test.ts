import { expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/base/json.ts';
import { createAdapter } from '../../../../src/model/adapters/adapter.ts';
import { anthropicProtocol as anthropic } from '../../../../src/model/adapters/anthropic/anthropic-protocol.ts';
import { userMessage, type AssistantPart, type Message } from '../../../../src/protocol/message.ts';
import { adapterDeps, collect, finished, request, serve, sse } from '../support.ts';

const ANSWER = sse([
  {
    type: 'message_start',
    message: { role: 'assistant', content: [], usage: { input_tokens: 1, output_tokens: 1 } },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hi' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
  { type: 'message_stop' },
]);

/** One turn in which the model called a tool, and its result. */
function turn(id: string, model: string, thoughts: readonly AssistantPart[]): Message[] {
  const call = { type: 'tool_call', id, name: 'Read', input: {} } as const;
  return [
    { role: 'assistant', model, content: [...thoughts, call] },
    {
      role: 'tool',
      content: [{ type: 'tool_result', callId: id, name: 'Read', text: 'A', isError: false }],
    },
  ];
}

const HISTORY: readonly Message[] = [
  userMessage('Hi'),
  ...turn('a', 'test/kimi-k3', [{ type: 'reasoning', text: 'I read it.' }]),
  ...turn('b', 'test/other', [{ type: 'reasoning', text: 'Not for you.' }]),
  ...turn('c', 'test/kimi-k3', [
    { type: 'reasoning', text: 'Signed.', meta: { anthropic: { signature: 'SIG' } } },
  ]),
];

const ASKED = request(HISTORY, { model: { provider: 'test', id: 'kimi-k3', chain: [] } });

/** The blocks of thinking in each answer of a request's history. */
function thinkingIn(body: string): unknown[] {
  const { messages } = JSON.parse(body) as {
    messages: { role: string; content: JsonObject[] }[];
  };
  return messages
    .filter(({ role }) => role === 'assistant')
    .map(({ content }) => content.filter(({ type }) => type === 'thinking'));
}

const SIGNED = [{ type: 'thinking', thinking: 'Signed.', signature: 'SIG' }];
const COMPLETE = [
  [{ type: 'thinking', thinking: 'I read it.', signature: '' }],
  [{ type: 'thinking', thinking: ' ', signature: '' }],
  SIGNED,
];

it.each([
  'thinking is enabled but reasoning_content is missing in assistant tool call message at index 2',
  'The `content[].thinking` in the thinking mode must be passed back to the API.',
])('a server that says %j gets thoughts without a signature', async (message) => {
  await using server = await serve((response, { body }) => {
    if (thinkingIn(body).some((blocks) => (blocks as unknown[]).length === 0)) {
      const said = { type: 'error', error: { type: 'invalid_request_error', message } };
      response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(said));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(ANSWER);
  });
  const endpoint = { name: 'test', baseUrl: server.url, apiKey: 'key' };
  const port = createAdapter(anthropic, endpoint, adapterDeps());
  finished(await collect(port, ASKED));
  // What was learned holds for the next request too.
  finished(await collect(port, ASKED));
  expect(server.requests.map(({ body }) => thinkingIn(body))).toEqual([
    [[], [], SIGNED],
    COMPLETE,
    COMPLETE,
  ]);
});

it('a server that does not require thoughts without a signature gets none', async () => {
  await using server = await serve((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(ANSWER);
  });
  const endpoint = { name: 'test', baseUrl: server.url, apiKey: 'key' };
  finished(await collect(createAdapter(anthropic, endpoint, adapterDeps()), ASKED));
  expect(server.requests.map(({ body }) => thinkingIn(body))).toEqual([[[], [], SIGNED]]);
});
