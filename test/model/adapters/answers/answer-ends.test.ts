import { expect, it } from 'vitest';
import { createAdapter } from '../../../../src/model/adapters/adapter.ts';
import type { ProtocolAdapter } from '../../../../src/model/adapters/protocol-adapter.ts';
import { anthropicProtocol as anthropic } from '../../../../src/model/adapters/anthropic/anthropic-protocol.ts';
import { googleProtocol as google } from '../../../../src/model/adapters/google/google-protocol.ts';
import { chatProtocol as chat } from '../../../../src/model/adapters/openai-chat/chat-protocol.ts';
import { responsesProtocol as responses } from '../../../../src/model/adapters/openai-responses/responses-protocol.ts';
import { userMessage } from '../../../../src/protocol/message.ts';
import { readQuirk, stream, type Sent } from '../read-answer.ts';
import { adapterDeps, collect, failed, request, serve } from '../support.ts';

interface Wire {
  readonly dialect: ProtocolAdapter;
  readonly model: string;
  /** A complete answer "hi". */
  readonly answer: readonly unknown[];
  /** The same answer as one document. */
  readonly document: unknown;
  /** The event of the answer after which it is complete. */
  readonly decisive: number;
}

const CHAT: Wire = {
  dialect: chat,
  model: 'qwen3-coder',
  answer: [
    { choices: [{ index: 0, delta: { content: 'hi' } }] },
    {
      choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
      usage: { prompt_tokens: 9, completion_tokens: 3 },
    },
  ],
  document: {
    choices: [{ message: { content: 'hi' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 9, completion_tokens: 3 },
  },
  decisive: 1,
};
const ANTHROPIC: Wire = {
  dialect: anthropic,
  model: 'claude-sonnet-5',
  answer: [
    { type: 'message_start', message: { usage: { input_tokens: 9, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hi' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } },
  ],
  document: {
    type: 'message',
    content: [{ type: 'text', text: 'hi' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 9, output_tokens: 3 },
  },
  decisive: 4,
};
const ITEM = { type: 'message', id: 'm', content: [{ type: 'output_text', text: 'hi' }] };
const RESPONSES: Wire = {
  dialect: responses,
  model: 'gpt-5',
  answer: [
    { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'm' } },
    { type: 'response.output_text.delta', output_index: 0, item_id: 'm', delta: 'hi' },
    { type: 'response.output_item.done', output_index: 0, item: ITEM },
    {
      type: 'response.completed',
      response: { output: [ITEM], usage: { input_tokens: 9, output_tokens: 3 } },
    },
  ],
  document: { output: [ITEM], usage: { input_tokens: 9, output_tokens: 3 } },
  decisive: 3,
};
const GOOGLE: Wire = {
  dialect: google,
  model: 'gemini-3-pro',
  answer: [
    {
      candidates: [{ content: { parts: [{ text: 'hi' }] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 3 },
    },
  ],
  document: [
    {
      candidates: [{ content: { parts: [{ text: 'hi' }] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 3 },
    },
  ],
  decisive: 0,
};
const WIRES = [CHAT, ANTHROPIC, RESPONSES, GOOGLE];
const named = WIRES.map((wire) => [wire.dialect.rules.metaKey, wire] as const);

/** The body without the line ends behind it, after which the connection is reset. */
function cutShort({ body }: Sent, contentType = 'text/event-stream'): Sent {
  return { body: body.trimEnd(), contentType, reset: true };
}

it.each(named)(
  'a complete answer over %s is accepted even if its last line has no end and the connection is reset',
  async (_name, wire) => {
    const read = await readQuirk(wire, cutShort(stream(wire.answer)));
    expect(read.text).toBe('hi');
    expect(read.failed).toBeUndefined();
  },
);

it.each(named)('a document over %s is complete too', async (_name, wire) => {
  const body = JSON.stringify(wire.document);
  const read = await readQuirk(wire, cutShort({ body }, 'application/json'));
  expect(read.text).toBe('hi');
  expect(read.repairs).toMatchObject({ json_instead_of_stream: 1, broken_connection_after_end: 1 });
});

it('a `[DONE]` without a line end completes an answer before a reset', async () => {
  const sent = stream([CHAT.answer[0], '[DONE]']);
  const read = await readQuirk(CHAT, cutShort(sent));
  expect(read).toMatchObject({ text: 'hi', repairs: { missing_finish_reason: 1 } });
});

it.each(named)(
  'an answer over %s whose last event is cut by a reset is incomplete',
  async (_name, wire) => {
    const body = stream(wire.answer.slice(0, wire.decisive + 1))
      .body.trimEnd()
      .slice(0, -4);
    expect((await readQuirk(wire, { body, reset: true })).failed).toMatch(/no connection/);
  },
);

it.each(named)(
  'a document over %s that is cut off by a reset is incomplete',
  async (_name, wire) => {
    const body = JSON.stringify(wire.document).slice(0, -4);
    const sent = { body, contentType: 'application/json', reset: true } as const;
    expect((await readQuirk(wire, sent)).failed).toMatch(/no connection/);
  },
);

const LATE_ERROR = { type: 'error', error: { type: 'overloaded_error', message: 'busy' } };

it.each(named.filter(([, wire]) => wire !== RESPONSES))(
  'an error event after the finish reason leaves a complete answer over %s as it is',
  async (_name, wire) => {
    const read = await readQuirk(wire, [...wire.answer, LATE_ERROR]);
    expect(read).toMatchObject({ text: 'hi', repairs: { error_after_end: 1 } });
  },
);

it.each(named)(
  'an error event before the end of an answer over %s fails it',
  async (_name, wire) => {
    const read = await readQuirk(wire, [...wire.answer.slice(0, wire.decisive), LATE_ERROR]);
    expect(read.failed).toMatch(/busy/);
  },
);

it('an error in the event of the finish reason fails the answer', async () => {
  const [text, end] = CHAT.answer;
  const read = await readQuirk(CHAT, [text, { ...Object(end), error: { message: 'busy' } }]);
  expect(read.failed).toMatch(/busy/);
});

it('an error after content that follows a finish reason fails the answer', async () => {
  const chunk = GOOGLE.answer[0];
  expect((await readQuirk(GOOGLE, [chunk, chunk, LATE_ERROR])).failed).toMatch(/busy/);
});

/** The failure over a body under HTTP 200 that is no answer. */
async function failureOver(body: string, contentType = 'text/plain') {
  await using server = await serve((response) => {
    response.writeHead(200, { 'content-type': contentType });
    response.end(body);
  });
  const endpoint = { name: 'test', baseUrl: server.url, apiKey: 'key' };
  const asked = request([userMessage('Hi')], {
    model: { provider: 'test', id: 'm', chain: [] },
  });
  return failed(await collect(createAdapter(chat, endpoint, adapterDeps()), asked));
}

const PAGE = '<!DOCTYPE html><html><head><title>Sign in</title></head><body>x</body></html>';
const GATEWAY = '<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>';

it.each([
  ['upstream connect error or disconnect/reset before headers', true, /upstream connect error/],
  ['data: Internal Server Error\n\n', true, /Internal Server Error/],
  ['no healthy upstream', true, /text instead of an answer from .*no healthy upstream/],
  [GATEWAY, true, /web page instead of an answer.*"502 Bad Gateway"/],
  [PAGE, false, /web page instead of an answer.*"Sign in"/],
  ['It works!\n', false, /text instead of an answer from 127\.0\.0\.1:\d+: "It works!"/],
  ['x'.repeat(9000), false, /"x{100,600}…/],
  ['The input is longer than the maximum context length', false, /text instead of an answer/],
  [`:ping\n\nevent: message\ndata: hello\n\n`, false, /"data: hello"/],
])('the body %j is retried: %j, and its failure describes it', async (body, retryable, says) => {
  const failure = await failureOver(body);
  expect(failure.message).toMatch(says);
  expect(failure.retryable).toBe(retryable);
});

it.each(['', '\n\n', ': keep-alive\n\n: keep-alive\n\n', 'event: ping\ndata:\n\n'])(
  'the body %j says nothing, so the answer is incomplete',
  async (body) => {
    expect(await failureOver(body, 'text/event-stream')).toMatchObject({
      kind: 'connect',
      retryable: true,
      message: expect.stringMatching(/broke off/),
    });
  },
);
