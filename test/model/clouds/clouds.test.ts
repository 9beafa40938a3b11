import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { userMessage } from '../../../src/protocol/message.ts';
import type { ModelRequest } from '../../../src/protocol/model.ts';
import type { Answer } from '../../../src/testing/index.ts';
import { collect, failed, finished, request } from '../adapters/support.ts';
import { connectClouds } from './connect-cloud.ts';
import { chunkFrame, eventFrame, exceptionFrame, reply, startFakeCloud } from './fake-cloud.ts';

const AWS = {
  AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  AWS_SESSION_TOKEN: 'session-token-0123456789',
  AWS_REGION: 'eu-central-1',
};
const CLAUDE_ON_BEDROCK = 'eu.anthropic.claude-haiku-4-5-20251001-v1:0';
const NOVA = 'eu.amazon.nova-pro-v1:0';

const ANSWER: Answer = {
  thinking: 'I have to read it.',
  text: 'Reading.',
  toolCalls: [{ name: 'Read', input: { path: 'a.ts' } }],
  usage: { input: 30, output: 12, cacheRead: 100, cacheWrite: 7 },
};

function ask(provider: string, id: string, overrides: Partial<ModelRequest> = {}): ModelRequest {
  return request([userMessage('Read a.ts')], {
    model: { provider, id, chain: [] },
    maxOutputTokens: 9000,
    ...overrides,
  });
}

const EXPECTED_ANSWER = {
  reason: 'tool_calls',
  usage: expect.objectContaining({ input: 30, output: 12, cacheRead: 100, cacheWrite: 7 }),
};

describe('Claude on Bedrock', () => {
  it('gets signed requests, and its answers come in the frames of AWS', async () => {
    await using cloud = await startFakeCloud({ script: [{ answer: ANSWER }] });
    const settings = { bedrock: { kind: 'bedrock' as const, baseUrl: cloud.url } };
    const { port, secrets } = connectClouds({ settings, env: AWS });
    const parts = await collect(port, ask('bedrock', CLAUDE_ON_BEDROCK, { effort: 'high' }));
    expect(finished(parts)).toMatchObject(EXPECTED_ANSWER);
    expect(finished(parts).message.content).toMatchObject([
      { type: 'reasoning', text: 'I have to read it.' },
      { type: 'text', text: 'Reading.' },
      { type: 'tool_call', name: 'Read', input: { path: 'a.ts' } },
    ]);
    const [sent] = cloud.requests;
    expect(sent?.path).toBe(
      '/model/eu.anthropic.claude-haiku-4-5-20251001-v1%3A0/invoke-with-response-stream',
    );
    expect(sent?.headers).toMatchObject({
      'x-amz-security-token': AWS.AWS_SESSION_TOKEN,
      authorization: expect.stringMatching(
        /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-central-1\/bedrock\/aws4_request, SignedHeaders=host;x-amz-date;x-amz-security-token, Signature=[0-9a-f]{64}$/,
      ),
    });
    expect(JSON.parse(sent?.body ?? '')).toMatchObject({
      anthropic_version: 'bedrock-2023-05-31',
      max_tokens: 9000,
      thinking: { type: 'enabled' },
    });
    // The prompt is marked for the cache as for Anthropic itself.
    expect(sent?.body).toContain('"cache_control":{"type":"ephemeral"}');
    expect(cloud.model.violations).toEqual([]);
    expect(secrets).toEqual([
      AWS.AWS_ACCESS_KEY_ID,
      AWS.AWS_SECRET_ACCESS_KEY,
      AWS.AWS_SESSION_TOKEN,
    ]);
  });

  it('gets a bearer token in place of a signature, and the service tier', async () => {
    await using cloud = await startFakeCloud({ script: [{ answer: { text: 'ok' } }] });
    const { port } = connectClouds({
      env: {
        CLAUDE_CODE_USE_BEDROCK: '1',
        AWS_BEARER_TOKEN_BEDROCK: 'bedrock-api-key-0123456789',
        AWS_REGION: 'us-east-1',
        ANTHROPIC_BEDROCK_BASE_URL: cloud.url,
        ANTHROPIC_BEDROCK_SERVICE_TIER: 'flex',
      },
    });
    expect(finished(await collect(port, ask('bedrock', CLAUDE_ON_BEDROCK)))).toMatchObject({
      reason: 'stop',
    });
    expect(cloud.requests[0]?.headers).toMatchObject({
      authorization: 'Bearer bedrock-api-key-0123456789',
      'x-amzn-bedrock-service-tier': 'flex',
    });
    expect(cloud.requests[0]?.headers).not.toHaveProperty('x-amz-date');
  });

  it('gets no credentials if a gateway has them', async () => {
    await using cloud = await startFakeCloud({ script: [{ answer: { text: 'ok' } }] });
    const { port } = connectClouds({
      env: {
        ...AWS,
        CLAUDE_CODE_USE_BEDROCK: '1',
        CLAUDE_CODE_SKIP_BEDROCK_AUTH: '1',
        ANTHROPIC_BEDROCK_BASE_URL: cloud.url,
      },
    });
    finished(await collect(port, ask('bedrock', CLAUDE_ON_BEDROCK)));
    expect(cloud.requests[0]?.headers).not.toHaveProperty('authorization');
  });
});

describe('Converse', () => {
  const EVENTS = [
    eventFrame('messageStart', { role: 'assistant' }),
    eventFrame('contentBlockDelta', {
      contentBlockIndex: 0,
      delta: { reasoningContent: { text: 'I have to ' } },
    }),
    eventFrame('contentBlockDelta', {
      contentBlockIndex: 0,
      delta: { reasoningContent: { text: 'read it.' } },
    }),
    eventFrame('contentBlockDelta', {
      contentBlockIndex: 0,
      delta: { reasoningContent: { signature: 'sig-1' } },
    }),
    eventFrame('contentBlockStop', { contentBlockIndex: 0 }),
    eventFrame('contentBlockDelta', { contentBlockIndex: 1, delta: { text: 'Reading.' } }),
    eventFrame('contentBlockStop', { contentBlockIndex: 1 }),
    eventFrame('contentBlockStart', {
      contentBlockIndex: 2,
      start: { toolUse: { toolUseId: 'tooluse_1', name: 'Read' } },
    }),
    eventFrame('contentBlockDelta', {
      contentBlockIndex: 2,
      delta: { toolUse: { input: '{"path":' } },
    }),
    eventFrame('contentBlockDelta', {
      contentBlockIndex: 2,
      delta: { toolUse: { input: '"a.ts"}' } },
    }),
    eventFrame('contentBlockStop', { contentBlockIndex: 2 }),
    eventFrame('messageStop', { stopReason: 'tool_use' }),
    eventFrame('metadata', {
      usage: {
        inputTokens: 30,
        outputTokens: 12,
        totalTokens: 149,
        cacheReadInputTokens: 100,
        cacheWriteInputTokens: 7,
      },
      metrics: { latencyMs: 1 },
    }),
  ];

  it('serves the models of other vendors, with marks for the cache and the thoughts sent back', async () => {
    await using cloud = await startFakeCloud({
      intercept: (_request, response) => reply(response, 200, EVENTS),
    });
    const settings = {
      bedrock: { kind: 'bedrock' as const, baseUrl: cloud.url, serviceTier: 'priority' as const },
    };
    const { port } = connectClouds({ settings, env: AWS });
    const asked = ask('bedrock', NOVA);
    const { message, ...rest } = finished(await collect(port, asked));
    expect(rest).toMatchObject(EXPECTED_ANSWER);
    expect(message.content).toEqual([
      {
        type: 'reasoning',
        text: 'I have to read it.',
        meta: { amazonBedrock: { signature: 'sig-1' } },
      },
      { type: 'text', text: 'Reading.' },
      { type: 'tool_call', id: 'tooluse_1', name: 'Read', input: { path: 'a.ts' } },
    ]);
    const result = { type: 'tool_result' as const, id: 'tooluse_1', name: 'Read', text: 'text' };
    const next = {
      ...asked,
      messages: [...asked.messages, message, { role: 'tool' as const, content: [result] }],
    };
    finished(await collect(port, next as ModelRequest));
    expect(cloud.requests.map(({ path }) => path)).toEqual([
      '/model/eu.amazon.nova-pro-v1%3A0/converse-stream',
      '/model/eu.amazon.nova-pro-v1%3A0/converse-stream',
    ]);
    const [first, second] = cloud.requests.map(({ body }) => JSON.parse(body));
    expect(first).toMatchObject({
      serviceTier: { type: 'priority' },
      system: [
        { text: 'You are Muster.' },
        { cachePoint: { type: 'default' } },
        { text: 'Task: look around' },
      ],
      messages: [
        { role: 'user', content: [{ text: 'Read a.ts' }, { cachePoint: { type: 'default' } }] },
      ],
      inferenceConfig: { maxTokens: 9000 },
      toolConfig: { tools: [{ toolSpec: { name: 'Read' } }, { toolSpec: { name: 'Glob' } }] },
    });
    expect(second.messages[1]).toEqual({
      role: 'assistant',
      content: [
        { reasoningContent: { reasoningText: { text: 'I have to read it.', signature: 'sig-1' } } },
        { text: 'Reading.' },
        { toolUse: { toolUseId: 'tooluse_1', name: 'Read', input: { path: 'a.ts' } } },
      ],
    });
    expect(second.messages[2].content[0]).toMatchObject({ toolResult: { toolUseId: 'tooluse_1' } });
  });

  it('is used without marks again after a model has refused them', async () => {
    const message =
      'You invoked an unsupported model or your request did not allow prompt caching.';
    await using cloud = await startFakeCloud({
      intercept: ({ body }, response) =>
        body.includes('cachePoint')
          ? reply(response, 400, { message }, { 'x-amzn-errortype': 'ValidationException' })
          : reply(response, 200, EVENTS),
    });
    const settings = { bedrock: { kind: 'bedrock' as const, baseUrl: cloud.url } };
    const { port } = connectClouds({ settings, env: AWS });
    finished(await collect(port, ask('bedrock', NOVA)));
    finished(await collect(port, ask('bedrock', NOVA)));
    expect(cloud.requests.map(({ body }) => body.includes('cachePoint'))).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('can answer with one document in place of a stream', async () => {
    await using cloud = await startFakeCloud({
      intercept: (_request, response) =>
        reply(response, 200, {
          output: {
            message: {
              role: 'assistant',
              content: [
                { text: 'Reading.' },
                { toolUse: { toolUseId: 't1', name: 'Read', input: { path: 'a.ts' } } },
              ],
            },
          },
          stopReason: 'tool_use',
          usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
        }),
    });
    const settings = { bedrock: { kind: 'bedrock' as const, baseUrl: cloud.url } };
    const { port } = connectClouds({ settings, env: AWS });
    expect(finished(await collect(port, ask('bedrock', NOVA)))).toMatchObject({
      message: {
        content: [
          { type: 'text', text: 'Reading.' },
          { type: 'tool_call', id: 't1', name: 'Read', input: { path: 'a.ts' } },
        ],
      },
      reason: 'tool_calls',
      repairs: { json_instead_of_stream: 1 },
    });
  });
});

const TEXT_EVENTS = ['messageStart', 'contentBlockDelta'].map((name) =>
  eventFrame(name, { role: 'assistant', contentBlockIndex: 0, delta: { text: 'Hel' } }),
);
const FIRST_CHUNK = chunkFrame(
  '{"type":"message_start","message":{"id":"m","role":"assistant","content":[],"usage":{"input_tokens":1}}}',
);

describe('a stream of Bedrock that breaks', () => {
  it.each([
    ['throttlingException', 'Too many requests, please wait.', 'rate_limit', true],
    ['serviceUnavailableException', 'Try later.', 'overloaded', true],
    ['internalServerException', 'Oops.', 'server', true],
    ['modelStreamErrorException', 'The model failed.', 'server', true],
    ['validationException', 'messages: bad', 'bad_request', false],
  ])('with the exception %s is a failure of the model', async (type, message, kind, retryable) => {
    for (const [model, before] of [
      [NOVA, TEXT_EVENTS],
      [CLAUDE_ON_BEDROCK, [FIRST_CHUNK]],
    ] as const) {
      await using cloud = await startFakeCloud({
        intercept: (_request, response) =>
          reply(response, 200, [...before, exceptionFrame(type, message)]),
      });
      const settings = { bedrock: { kind: 'bedrock' as const, baseUrl: cloud.url } };
      const { port } = connectClouds({ settings, env: AWS });
      const failure = failed(await collect(port, ask('bedrock', model)));
      expect(failure).toMatchObject({ kind, retryable });
      expect(failure.message).toContain(message);
    }
  });

  it.each([
    ['is cut inside of a frame', [...TEXT_EVENTS, FIRST_CHUNK.slice(0, 40)], 'connect'],
    ['ends without its last event', TEXT_EVENTS, 'connect'],
    [
      'has a damaged frame',
      [...TEXT_EVENTS, FIRST_CHUNK.map((byte, at) => (at === 50 ? byte ^ 1 : byte))],
      'malformed',
    ],
  ])('which %s is requested again', async (_name, pieces, kind) => {
    await using cloud = await startFakeCloud({
      intercept: (_request, response) => reply(response, 200, pieces),
    });
    const settings = { bedrock: { kind: 'bedrock' as const, baseUrl: cloud.url } };
    const { port } = connectClouds({ settings, env: AWS });
    expect(failed(await collect(port, ask('bedrock', NOVA)))).toMatchObject({
      kind,
      retryable: true,
    });
  });
});

describe('Vertex AI', () => {
  const env = { GOOGLE_CLOUD_QUOTA_PROJECT: 'payer' };
  const settings = (url: string) => ({
    vertex: {
      kind: 'vertex' as const,
      baseUrl: `${url}/v1`,
      project: 'my-project',
      region: 'europe-west1',
      apiKeyEnv: 'VERTEX_TOKEN',
      serviceTier: 'priority' as const,
    },
  });

  it('serves Claude', async () => {
    await using cloud = await startFakeCloud({ script: [{ answer: ANSWER }] });
    const { port } = connectClouds({
      settings: settings(cloud.url),
      env: { ...env, VERTEX_TOKEN: 'ya29.token' },
    });
    const parts = await collect(
      port,
      ask('vertex', 'claude-haiku-4-5@20251001', { effort: 'low' }),
    );
    expect(finished(parts)).toMatchObject(EXPECTED_ANSWER);
    const [sent] = cloud.requests;
    expect(sent?.path).toBe(
      '/v1/projects/my-project/locations/europe-west1/publishers/anthropic/models/claude-haiku-4-5%4020251001:streamRawPredict',
    );
    expect(sent?.headers).toMatchObject({
      authorization: 'Bearer ya29.token',
      'x-goog-user-project': 'payer',
      'x-vertex-ai-llm-shared-request-type': 'priority',
    });
    expect(sent?.headers).not.toHaveProperty('x-api-key');
    expect(JSON.parse(sent?.body ?? '')).toMatchObject({
      anthropic_version: 'vertex-2023-10-16',
      stream: true,
      max_tokens: 9000,
    });
    expect(cloud.model.violations).toEqual([]);
  });

  it('serves Gemini, whose calls get no ids', async () => {
    await using cloud = await startFakeCloud({ script: [{ answer: ANSWER }, { answer: ANSWER }] });
    const { port } = connectClouds({
      settings: settings(cloud.url),
      env: { ...env, VERTEX_TOKEN: 'ya29.token' },
    });
    const asked = ask('vertex', 'gemini-3.8-flash');
    const { message, ...rest } = finished(await collect(port, asked));
    expect(rest).toMatchObject({ reason: 'tool_calls' });
    const call = message.content.find(({ type }) => type === 'tool_call');
    const id = call?.type === 'tool_call' ? call.id : '';
    const result = { type: 'tool_result' as const, id, name: 'Read', text: 'text' };
    const messages = [...asked.messages, message, { role: 'tool' as const, content: [result] }];
    await collect(port, { ...asked, messages } as ModelRequest);
    expect(cloud.requests[0]?.path).toBe(
      '/v1/projects/my-project/locations/europe-west1/publishers/google/models/gemini-3.8-flash:streamGenerateContent?alt=sse',
    );
    expect(cloud.requests[0]?.headers['authorization']).toBe('Bearer ya29.token');
    expect(cloud.requests[0]?.headers).not.toHaveProperty('x-goog-api-key');
    expect(cloud.requests[1]?.body).toContain('"functionCall":{"name":"Read","args"');
  });
});

describe('Azure', () => {
  it('serves the models of several vendors, each in its own protocol and with the key', async () => {
    await using cloud = await startFakeCloud({ script: [{ answer: { text: 'ok' } }] });
    const { port } = connectClouds({
      settings: {
        azure: { kind: 'azure', baseUrl: `${cloud.url}/openai/v1`, serviceTier: 'flex' },
      },
      env: { AZURE_OPENAI_API_KEY: 'azure-key-0123456789' },
    });
    for (const model of ['gpt-6-sol', 'claude-sonnet-5', 'DeepSeek-V3.2']) {
      expect(finished(await collect(port, ask('azure', model)))).toMatchObject({ reason: 'stop' });
    }
    expect(
      cloud.requests.map(({ path, headers, body }) => [
        path,
        headers['api-key'],
        JSON.parse(body).service_tier,
      ]),
    ).toEqual([
      ['/openai/v1/responses', 'azure-key-0123456789', 'flex'],
      ['/anthropic/v1/messages', 'azure-key-0123456789', undefined],
      ['/openai/v1/chat/completions', 'azure-key-0123456789', 'flex'],
    ]);
    expect(
      cloud.requests.some(({ headers }) => 'authorization' in headers || 'x-api-key' in headers),
    ).toBe(false);
    expect(cloud.model.violations).toEqual([]);
  });

  it('gets the name of the deployment, and an access token as a bearer token', async () => {
    await using cloud = await startFakeCloud({ script: [{ answer: { text: 'ok' } }] });
    const { port } = connectClouds({
      settings: {
        prod: {
          kind: 'azure',
          baseUrl: cloud.url,
          deployment: 'prod-1',
          apiKeyCommand: 'echo eyJ0eXAi.eyJhdWQi.c2ln',
        },
      },
      home: tmpdir(),
    });
    finished(await collect(port, ask('prod', 'gpt-6-sol')));
    expect(JSON.parse(cloud.requests[0]?.body ?? '').model).toBe('prod-1');
    expect(cloud.requests[0]?.headers['authorization']).toBe('Bearer eyJ0eXAi.eyJhdWQi.c2ln');
  });
});

it('a request to a cloud ends when it is cancelled', async () => {
  await using cloud = await startFakeCloud({ intercept: () => true });
  const settings = { bedrock: { kind: 'bedrock' as const, baseUrl: cloud.url } };
  const { port } = connectClouds({ settings, env: AWS });
  const controller = new AbortController();
  const collected = collect(port, ask('bedrock', NOVA), controller.signal);
  while (cloud.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
  controller.abort();
  expect(failed(await collected)).toMatchObject({ kind: 'cancelled' });
});
