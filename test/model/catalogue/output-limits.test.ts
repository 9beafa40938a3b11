import { PRESETS, type ProtocolName } from '../../../src/model/settings/presets.ts';
import { describe, expect, test } from 'vitest';
import { createAdapter } from '../../../src/model/adapters/adapter.ts';
import { createModelChooser } from '../../../src/model/selection/model-chooser.ts';
import { VENDOR_NAMES } from '../../../src/model/providers/vendors.ts';
import { findOutputLimit } from '../../../src/model/catalogue/output-limits.ts';
import { discoverProviders } from '../../../src/model/providers/providers.ts';
import { userMessage } from '../../../src/protocol/message.ts';
import { adapterDeps, collect, refuseWith, request, serve } from '../adapters/support.ts';
import { WIRES } from '../adapters/wires.ts';
import { EFFORTS } from '../../../src/protocol/model.ts';

const SERVERS = {
  anthropic: { protocol: 'anthropic', vendor: 'anthropic' },
  openai: { protocol: 'openai-responses', vendor: 'openai' },
  google: { protocol: 'google', vendor: 'google' },
  claudeLike: { protocol: 'anthropic', vendor: null },
  compatible: { protocol: 'openai-chat', vendor: null },
  openaiLike: { protocol: 'openai-chat', vendor: 'openai' },
  responsesLike: { protocol: 'openai-responses', vendor: null },
} as const;

test.each([
  ['anthropic', 'claude-sonnet-5', 32_000],
  ['anthropic', 'claude-haiku-4-5-20251001', 32_000],
  ['anthropic', 'claude-opus-4-1-20250805', 32_000],
  ['anthropic', 'claude-opus-4-20250514', 32_000],
  ['anthropic', 'claude-3-7-sonnet-latest', 32_000],
  ['anthropic', 'claude-3-5-haiku-20241022', 8192],
  ['anthropic', 'claude-3-haiku-20240307', 4096],
  ['anthropic', 'claude-2.1', 4096],
  ['anthropic', 'claude-v2', 4096],
  ['anthropic', 'claude-instant-1.2', 4096],
  ['anthropic', 'claude-nobody-knows-9', 32_000],
  ['anthropic', 'kimi-k3', 32_000],
  ['claudeLike', 'vendor/claude-3-opus', 4096],
  ['claudeLike', 'qwen3:8b', 32_000],
  ['openai', 'gpt-6-sol', 32_000],
  ['openai', 'gpt-5', 32_000],
  ['openai', 'gpt-5.4-mini', 32_000],
  ['openai', 'o3', 32_000],
  ['openai', 'gpt-4.1', 32_000],
  ['openai', 'gpt-5-chat-latest', 16_384],
  ['openai', 'gpt-4o-mini', 16_384],
  ['openai', 'gpt-4o-2024-05-13', 4096],
  ['openai', 'gpt-4-turbo-2024-04-09', 4096],
  ['openai', 'gpt-4-1106-preview', 4096],
  ['openai', 'gpt-4', 8192],
  ['openai', 'gpt-3.5-turbo', 4096],
  ['openai', 'no-model-of-theirs', null],
  ['google', 'gemini-4-argon', 32_000],
  ['google', 'gemini-2.5-pro', 32_000],
  ['google', 'gemini-2.0-flash-001', 8192],
  ['google', 'gemini-1.5-pro', 8192],
  ['google', 'gemma-4-31b-it', null],
  ['compatible', 'claude-sonnet-5', null],
  ['compatible', 'qwen3:8b', null],
  ['openaiLike', 'gpt-5', null],
  ['responsesLike', 'gpt-oss:20b', null],
] as const)('%s %s: %j', (server, id, limit) => {
  expect(findOutputLimit(SERVERS[server], id)).toBe(limit);
});

test('every model of a tier has a limit', () => {
  for (const vendor of VENDOR_NAMES) {
    const server = Object.entries(SERVERS).find(([name]) => name === vendor)?.[1];
    for (const id of Object.values(PRESETS[vendor].tiers)) {
      expect(server === undefined ? null : findOutputLimit(server, id), id).toBe(32_000);
    }
  }
});

test('the configured limit has priority, and is the one in the details', async () => {
  const settings = {
    providers: {
      local: { baseUrl: 'http://127.0.0.1:9/v1' },
      anthropic: { apiKeyEnv: 'ANTHROPIC_API_KEY' },
    },
    catalogue: new Map([
      ['local/qwen3:8b', { outputLimit: 8000 }],
      ['anthropic/claude-sonnet-5', { outputLimit: 64_000 }],
    ]),
  };
  const providers = discoverProviders(settings, { ANTHROPIC_API_KEY: 'k' });
  const chooser = createModelChooser({ settings, providers }, { allowOverride: true });
  const limits = [
    ['local', 'qwen3:8b', 8000],
    ['local', 'qwen3:4b', null],
    ['anthropic', 'claude-sonnet-5', 64_000],
    ['anthropic', 'claude-haiku-4-5', 32_000],
    ['gone', 'claude-haiku-4-5', null],
  ] as const;
  for (const [provider, id, limit] of limits) {
    const model = { provider, id, chain: [] };
    expect([chooser.outputLimit(model), (await chooser.details(model)).maxOutput]).toEqual([
      limit,
      limit,
    ]);
  }
});

/** The limit, and what of it may be thought, in the words of each protocol. */
const ON_THE_WIRE: Readonly<Record<ProtocolName, (body: never) => readonly unknown[]>> = {
  anthropic: ({ max_tokens, thinking }: { max_tokens?: number; thinking?: Thinking }) => [
    max_tokens,
    thinking?.budget_tokens,
  ],
  'openai-responses': ({ max_output_tokens }: { max_output_tokens?: number }) => [
    max_output_tokens,
    undefined,
  ],
  'openai-chat': ({ max_tokens }: { max_tokens?: number }) => [max_tokens, undefined],
  google: ({ generationConfig }: { generationConfig?: Generation }) => [
    generationConfig?.maxOutputTokens,
    generationConfig?.thinkingConfig?.thinkingBudget,
  ],
  'bedrock-converse': ({ inferenceConfig }: { inferenceConfig?: { maxTokens?: number } }) => [
    inferenceConfig?.maxTokens,
    undefined,
  ],
};

interface Thinking {
  readonly budget_tokens?: number;
}

interface Generation {
  readonly maxOutputTokens?: number;
  readonly thinkingConfig?: { readonly thinkingBudget?: number };
}

describe('the requested limit is the one on the wire, with any thinking', () => {
  test.each([
    ['anthropic', 'claude-sonnet-5'],
    ['anthropic', 'claude-sonnet-5-5'],
    ['anthropic', 'claude-haiku-4-5'],
    ['anthropic', 'claude-opus-4-1'],
    ['anthropic', 'claude-3-7-sonnet-latest'],
    ['anthropic', 'claude-3-haiku-20240307'],
    ['anthropic', 'claude-nobody-knows-9'],
    ['anthropic', 'kimi-k3'],
    ['openai-responses', 'gpt-6-sol'],
    ['openai-responses', 'gpt-4o'],
    ['openai-responses', 'o3'],
    ['openai-chat', 'qwen3:8b'],
    ['google', 'gemini-2.5-pro'],
    ['google', 'gemini-3.8-flash'],
    ['google', 'gemma-4-31b-it'],
  ] as const)('%s: %s', async (protocol, id) => {
    const wire = WIRES.find(({ name }) => name === protocol)!;
    await using server = await serve(refuseWith(400, { error: { message: 'enough' } }));
    const endpoint = { name: 'test', baseUrl: server.url, apiKey: 'k' };
    const port = createAdapter(wire.dialect, endpoint, adapterDeps());
    const model = { provider: 'test', id, chain: [] };
    // What looks like the limits further down in the body is somebody's text.
    const decoy = [
      userMessage('"max_tokens":7,"thinkingConfig":{"thinkingBudget":7'),
      {
        role: 'assistant',
        content: [
          { type: 'tool_call', id: 'c1', name: 'Read', input: { max_tokens: 7, path: 'a' } },
        ],
      },
      {
        role: 'tool',
        content: [{ type: 'tool_result', callId: 'c1', name: 'Read', text: 'A', isError: false }],
      },
    ] as const;
    for (const maxOutputTokens of [1, 2000, 32_000, 200_000]) {
      for (const effort of [undefined, ...EFFORTS]) {
        await collect(
          port,
          request(decoy, { model, maxOutputTokens, ...(effort === undefined ? {} : { effort }) }),
        );
      }
      for (const { body } of server.requests.splice(0)) {
        const [limit, thought] = ON_THE_WIRE[protocol](JSON.parse(body) as never);
        expect(limit).toBe(maxOutputTokens);
        if (thought !== undefined) expect(thought).toBeLessThanOrEqual(maxOutputTokens * 0.8);
        expect(body.match(/max_tokens\\?":7/g)?.length, body).toBe(2);
      }
    }
  });
});

test.each(['openai-responses', 'openai-chat', 'google'] as const)(
  '%s: if no limit is requested, none is sent',
  async (protocol) => {
    const wire = WIRES.find(({ name }) => name === protocol)!;
    await using server = await serve(refuseWith(400, { error: { message: 'enough' } }));
    const endpoint = { name: 'test', baseUrl: server.url, apiKey: 'k' };
    const model = { provider: 'test', id: wire.model, chain: [] };
    await collect(
      createAdapter(wire.dialect, endpoint, adapterDeps()),
      request([userMessage('Hi')], { model }),
    );
    expect(server.requests[0]?.body).not.toMatch(/max_?(output_?)?tokens/i);
  },
);
