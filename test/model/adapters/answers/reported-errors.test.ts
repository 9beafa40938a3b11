import { expect, it } from 'vitest';
import { createAdapter } from '../../../../src/model/adapters/adapter.ts';
import { anthropicProtocol as anthropic } from '../../../../src/model/adapters/anthropic/anthropic-protocol.ts';
import type { ProtocolAdapter } from '../../../../src/model/adapters/protocol-adapter.ts';
import { googleProtocol as google } from '../../../../src/model/adapters/google/google-protocol.ts';
import { chatProtocol as chat } from '../../../../src/model/adapters/openai-chat/chat-protocol.ts';
import { responsesProtocol as responses } from '../../../../src/model/adapters/openai-responses/responses-protocol.ts';
import { findEventError } from '../../../../src/model/adapters/answers/reported-errors.ts';
import { userMessage } from '../../../../src/protocol/message.ts';
import { adapterDeps, collect, request, serve } from '../support.ts';

it.each([
  [{ code: 500, message: 'x' }, null, true],
  [{ status_code: 429, detail: 'x' }, null, true],
  [{ code: '502' }, null, true],
  [{ message: 'x' }, null, true],
  [{ detail: [{ loc: ['body'], msg: 'x' }] }, null, true],
  [{ base_resp: { status_code: 1002, status_msg: 'rate limit' } }, null, true],
  [{ choices: [{ delta: {} }], base_resp: { status_code: 1000, status_msg: 'x' } }, null, true],
  [{ message: 'x' }, 'error', true],
  [{ type: 'api_error', text: '' }, null, true],
  [{ code: 0, message: 'success' }, null, false],
  [{ code: 200, message: 'done' }, null, false],
  [{ type: 'ping', message: 'x' }, null, false],
  [{ status: 'queued', message: 'you are third' }, null, false],
  [{ message: 'loading' }, 'progress', false],
  [{ choices: [{ delta: { content: 'hi' } }], code: 500 }, null, false],
  [{ choices: [], base_resp: { status_code: 0, status_msg: '' } }, null, false],
  [{ choices: null }, null, false],
  [{ usage: { prompt_tokens: 1 }, message: 'x' }, null, false],
  [{ message: { role: 'assistant', content: 'hi' } }, null, false],
  [{}, null, false],
] as const)('%j under the name %j is an error: %j', (event, name, isError) => {
  expect(findEventError(event, name) !== undefined).toBe(isError);
});

async function readEnd(dialect: ProtocolAdapter, model: string, body: string) {
  await using server = await serve((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(body);
  });
  const endpoint = { name: 'test', baseUrl: server.url, apiKey: 'key' };
  const asked = request([userMessage('Hi')], {
    model: { provider: 'test', id: model, chain: [] },
  });
  return (await collect(createAdapter(dialect, endpoint, adapterDeps()), asked)).at(-1);
}

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const HALF = data({ choices: [{ delta: { content: 'half' } }] });

it.each([
  ['error: {"code":500,"message":"slot failed"}\n\n', 'server', 'slot failed'],
  ['error: slot failed\n\n', 'server', 'slot failed'],
  ['event: error\ndata: {"message":"out of memory","code":500}\n\n', 'server', 'out of memory'],
  ['event: error\ndata: out of memory\n\n', 'server', 'out of memory'],
  ['data: {"code":503,"message":"busy"}\n\n', 'overloaded', 'busy'],
  ['data: {"detail":"worker died"}\n\n', 'server', 'worker died'],
  [
    'data: {"choices":null,"base_resp":{"status_code":1000,"status_msg":"unknown error"}}\n\n',
    'server',
    'unknown error',
  ],
  [
    'error: {"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error"}\n\n',
    'context_overflow',
    'exceeds the available context size',
  ],
])('a Chat answer that continues with %j fails', async (tail, kind, says) => {
  expect(await readEnd(chat, 'qwen3-coder', HALF + tail)).toMatchObject({
    type: 'failed',
    failure: { kind, message: expect.stringContaining(says) as unknown },
  });
});

it.each([
  [anthropic, 'claude-sonnet-5', data({ type: 'message_start', message: {} })],
  [
    responses,
    'gpt-5',
    data({ type: 'response.output_text.delta', output_index: 0, delta: 'half' }),
  ],
  [google, 'gemini-2.5-pro', data({ candidates: [{ content: { parts: [{ text: 'half' }] } }] })],
])('the other protocols fail in this case too (%#)', async (dialect, model, half) => {
  for (const tail of [
    'event: error\ndata: {"message":"worker died"}\n\n',
    'data: {"code":500,"message":"worker died"}\n\n',
    'error: {"code":500,"message":"worker died"}\n\n',
  ]) {
    expect(await readEnd(dialect, model, half + tail)).toMatchObject({
      type: 'failed',
      failure: { kind: 'server', message: expect.stringContaining('worker died') as unknown },
    });
  }
});

it.each([
  [{ code: 500, message: 'worker died' }, 'server'],
  [{ code: 400, message: 'the request exceeds the available context size' }, 'context_overflow'],
])('a document %j instead of a stream fails with the kind %s', async (document, kind) => {
  expect(await readEnd(chat, 'qwen3-coder', JSON.stringify(document))).toMatchObject({
    type: 'failed',
    failure: { kind },
  });
});
