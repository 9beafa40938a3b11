import { describe, expect, test } from 'vitest';
import type { ProviderSettings } from '../../../src/model/settings/model-settings.ts';
import { userMessage, type AssistantPart } from '../../../src/protocol/message.ts';
import type { Usage } from '../../../src/protocol/model.ts';
import { collect, failed, finished } from '../adapters/support.ts';
import { ask, askWithoutEffort, connect, expectedEnd } from './connect.ts';
import { block, callBlock } from './messages.ts';
import { data, namedEvents, thought, usage } from './wire.ts';

// Providers at addresses with another protocol than that of their preset, and at the addresses of plans and regions.

interface OtherAddress {
  readonly name: string;
  readonly provider: ProviderSettings;
  readonly model: string;
  readonly url: string;
  readonly body: string;
  readonly content: readonly AssistantPart[];
  readonly usage: Usage;
  readonly reason: 'stop' | 'tool_calls';
}

const XAI: ProviderSettings = { baseUrl: 'https://api.x.ai/v1', kind: 'openai-compatible' };

const OTHERS: readonly OtherAddress[] = [
  {
    name: 'xAI in Chat Completions, which counts thoughts beside the output',
    provider: XAI,
    model: 'grok-3-mini',
    url: 'https://api.x.ai/v1/chat/completions',
    body: String.raw`data: {"id":"7327b9f5-1c2f-0a15-3fef-c14a71c460d3","object":"chat.completion.chunk","created":1770774058,"model":"grok-3-mini","choices":[{"index":0,"delta":{"reasoning_content":"First","role":"assistant"}}],"system_fingerprint":"fp_2a885414fb"}

data: {"id":"7327b9f5-1c2f-0a15-3fef-c14a71c460d3","object":"chat.completion.chunk","created":1770774061,"model":"grok-3-mini","choices":[{"index":0,"delta":{"content":"Hello"}}],"system_fingerprint":"fp_2a885414fb"}

data: {"id":"7327b9f5-1c2f-0a15-3fef-c14a71c460d3","object":"chat.completion.chunk","created":1770774061,"model":"grok-3-mini","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"system_fingerprint":"fp_2a885414fb"}

data: {"id":"7327b9f5-1c2f-0a15-3fef-c14a71c460d3","object":"chat.completion.chunk","created":1770774061,"model":"grok-3-mini","choices":[],"usage":{"prompt_tokens":12,"completion_tokens":1,"total_tokens":303,"prompt_tokens_details":{"text_tokens":12,"audio_tokens":0,"image_tokens":0,"cached_tokens":11},"completion_tokens_details":{"reasoning_tokens":290,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0},"num_sources_used":0,"cost_in_usd_ticks":1466250},"system_fingerprint":"fp_2a885414fb"}

`,
    content: [thought('First'), { type: 'text', text: 'Hello' }],
    usage: usage(1, 291, { cacheRead: 11, reasoning: 290 }),
    reason: 'stop',
  },
  {
    name: 'MiniMax in Chat Completions, which sends each thought in two fields',
    provider: { baseUrl: 'https://api.minimax.io/v1', kind: 'openai-compatible' },
    model: 'MiniMax-M2.7',
    url: 'https://api.minimax.io/v1/chat/completions',
    body: String.raw`data: {"id":"07008f4a82fecea87b8c3822c4ed23c0","choices":[{"index":0,"delta":{"role":"assistant","name":"MiniMax AI","audio_content":"","reasoning_content":"The","reasoning_details":[{"type":"reasoning.text","id":"reasoning-text-1","format":"MiniMax-response-v1","index":0,"text":"The"}]}}],"created":1790008394,"model":"MiniMax-M2.7","object":"chat.completion.chunk","usage":null,"input_sensitive":false,"output_sensitive":false,"input_sensitive_type":0,"output_sensitive_type":0,"output_sensitive_int":0}

data: {"id":"07008f4a82fecea87b8c3822c4ed23c0","choices":[{"index":0,"delta":{"content":"**","role":"assistant","name":"MiniMax AI","audio_content":""}}],"created":1790008394,"model":"MiniMax-M2.7","object":"chat.completion.chunk","usage":null,"input_sensitive":false,"output_sensitive":false,"input_sensitive_type":0,"output_sensitive_type":0,"output_sensitive_int":0}

data: {"id":"07008f4a82fecea87b8c3822c4ed23c0","choices":[{"finish_reason":"stop","index":0,"delta":{"content":" = 2(a + b + 1)$$\n\nResult divisible by 2. Even. ∎","role":"assistant","name":"MiniMax AI","audio_content":""}}],"created":1790008394,"model":"MiniMax-M2.7","object":"chat.completion.chunk","usage":null,"input_sensitive":false,"output_sensitive":false,"input_sensitive_type":0,"output_sensitive_type":0,"output_sensitive_int":0}

data: {"id":"07008f4a82fecea87b8c3822c4ed23c0","choices":[],"created":1790008394,"model":"MiniMax-M2.7","object":"chat.completion.chunk","usage":{"total_tokens":885,"total_characters":0,"prompt_tokens":769,"completion_tokens":116,"completion_tokens_details":{"reasoning_tokens":37},"prompt_tokens_details":{"cached_tokens":443}},"base_resp":{"status_code":0,"status_msg":""}}

data: [DONE]

`,
    content: [
      thought('The', {
        openaiCompatible: {
          type: 'reasoning.text',
          id: 'reasoning-text-1',
          format: 'MiniMax-response-v1',
          index: 0,
        },
      }),
      {
        type: 'text',
        text: '** = 2(a + b + 1)$$\n\nResult divisible by 2. Even. ∎',
      },
    ],
    usage: usage(326, 116, { cacheRead: 443, reasoning: 37 }),
    reason: 'stop',
  },
  {
    name: "Fireworks in Anthropic's protocol, which counts the input at the end",
    provider: { baseUrl: 'https://api.fireworks.ai/inference', kind: 'anthropic' },
    model: 'accounts/fireworks/models/glm-5p3',
    url: 'https://api.fireworks.ai/inference/v1/messages',
    body: namedEvents([
      {
        type: 'message_start',
        message: { role: 'assistant', usage: { input_tokens: 0, output_tokens: 0 } },
      },
      ...callBlock(0, 'call_1', 'a.ts'),
      {
        type: 'message_delta',
        delta: { stop_reason: 'tool_use', stop_sequence: null },
        usage: {
          input_tokens: 91,
          output_tokens: 16,
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: 0,
        },
      },
      { type: 'message_stop' },
    ]),
    content: [{ type: 'tool_call', id: 'call_1', name: 'Read', input: { path: 'a.ts' } }],
    usage: usage(91, 16),
    reason: 'tool_calls',
  },
  {
    name: "Z.ai's plan in Anthropic's protocol, without the fields of the other protocol",
    provider: { baseUrl: 'https://api.z.ai/api/anthropic', kind: 'zai' },
    model: 'glm-5.3',
    url: 'https://api.z.ai/api/anthropic/v1/messages',
    body: namedEvents([
      {
        type: 'message_start',
        message: { role: 'assistant', usage: { input_tokens: 9, output_tokens: 0 } },
      },
      ...block(0, { type: 'text', text: '' }, [{ type: 'text_delta', text: 'Hi' }]),
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ]),
    content: [{ type: 'text', text: 'Hi' }],
    usage: usage(9, 1),
    reason: 'stop',
  },
];

describe.each(OTHERS)('$name', ({ provider, model, url, body, ...answer }) => {
  test('is understood', async () => {
    const settings = { mine: { ...provider, apiKeyEnv: 'MINE' } };
    const key = { variable: 'MINE', prefix: 'key-' };
    await using server = await connect({ key, settings, reply: () => ({ body }) });
    const end = finished(await collect(server.port, ask('mine', { model })));
    const { servedBy: _served, ...read } = end;
    expect(read).toEqual(expectedEnd({ body, ...answer }));
    expect(server.sent.map((request) => request.url)).toEqual([url]);
    const [sent] = server.sent;
    expect(sent?.body).not.toHaveProperty('tool_stream');
    expect(sent?.body).not.toHaveProperty('include');
  });
});

test.each([
  ['reasoning', { reasoning: 'Hm.' }],
  ['reasoning_content', { reasoning_content: 'Hm.' }],
  ['reasoning_details', { reasoning_details: [{ type: 'reasoning.text', text: 'Hm.', index: 0 }] }],
])('an unknown server gets thoughts back as %s if it sent them so', async (_field, fields) => {
  const settings = { mine: { baseUrl: 'https://llm.example/v1' } };
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    choices: [{ index: 0, delta, finish_reason }],
  });
  const body = data([chunk(fields), chunk({ content: 'Hi' }, 'stop')]);
  await using server = await connect({ settings, reply: () => ({ body }) });
  const first = finished(await collect(server.port, ask('mine', { model: 'qwen' })));
  const answer = { ...first.message, model: 'mine/qwen' };
  const history = [userMessage('Hi'), answer, userMessage('And then?')];
  finished(await collect(server.port, ask('mine', { model: 'qwen' }, history)));
  expect(server.sent[1]?.body['messages']).toContainEqual({
    role: 'assistant',
    content: 'Hi',
    ...fields,
  });
});

test("Z.ai's errors are understood in each of its protocols", async () => {
  const settings = { mine: { baseUrl: 'https://api.z.ai/api/anthropic', apiKeyEnv: 'MINE' } };
  const body = JSON.stringify({
    type: 'error',
    error: { type: 'rate_limit_error', code: '1113', message: '余额不足' },
  });
  const key = { variable: 'MINE', prefix: 'key-' };
  await using server = await connect({ key, settings, reply: () => ({ status: 429, body }) });
  const parts = await collect(server.port, askWithoutEffort('mine', { model: 'glm-5.3' }));
  expect(failed(parts)).toEqual({
    kind: 'rate_limit',
    message:
      'mine/glm-5.3: HTTP 429: 余额不足 (sent to https://api.z.ai/api/anthropic/v1 with the key in MINE)',
    retryable: false,
    status: 429,
  });
});

test('GitHub Models, which was retired, is named', async () => {
  const settings = { mine: { baseUrl: 'https://models.github.ai/inference', apiKeyEnv: 'MINE' } };
  const body =
    'GitHub Models is temporarily unavailable as part of a scheduled retirement brownout.';
  const key = { variable: 'MINE', prefix: 'ghp_' };
  await using server = await connect({ key, settings, reply: () => ({ status: 410, body }) });
  const parts = await collect(server.port, askWithoutEffort('mine', { model: 'openai/gpt-4.1' }));
  expect(failed(parts)).toEqual({
    kind: 'not_found',
    message: `mine/openai/gpt-4.1: HTTP 410: ${body} (GitHub Models was retired on 2026-07-30; choose another provider)`,
    retryable: false,
    status: 410,
  });
});
