import { type ProtocolName } from '../../../src/model/settings/presets.ts';
import { describe, expect, test } from 'vitest';
import { createAdapter } from '../../../src/model/adapters/adapter.ts';
import { findCandidateUrls, parseBaseUrl } from '../../../src/model/providers/base-url.ts';

import { discoverProviders } from '../../../src/model/providers/providers.ts';
import { userMessage } from '../../../src/protocol/message.ts';
import {
  adapterDeps,
  collect,
  failed,
  finished,
  request,
  serve,
  sse,
} from '../adapters/support.ts';
import { WIRES } from '../adapters/wires.ts';

/** What a person writes, for which protocol, and where requests go then. */
const ROWS: readonly (readonly [string, ProtocolName, string, string?])[] = [
  ['https://api.anthropic.com', 'anthropic', 'https://api.anthropic.com/v1'],
  ['https://api.anthropic.com/', 'anthropic', 'https://api.anthropic.com/v1'],
  ['https://api.anthropic.com/v1', 'anthropic', 'https://api.anthropic.com/v1'],
  ['https://api.anthropic.com//v1//', 'anthropic', 'https://api.anthropic.com/v1'],
  ['https://api.anthropic.com/v1/messages', 'anthropic', 'https://api.anthropic.com/v1'],
  ['https://api.anthropic.com/v1/messages/', 'anthropic', 'https://api.anthropic.com/v1'],
  [
    'https://api.anthropic.com/v1/messages/count_tokens',
    'anthropic',
    'https://api.anthropic.com/v1',
  ],
  ['https://api.anthropic.com/v1/models', 'anthropic', 'https://api.anthropic.com/v1'],
  ['https://api.z.ai/api/anthropic', 'anthropic', 'https://api.z.ai/api/anthropic/v1'],
  ['https://openrouter.ai/api', 'anthropic', 'https://openrouter.ai/api/v1'],
  ['https://h/anthropic/messages', 'anthropic', 'https://h/anthropic', 'https://h/anthropic/v1'],
  [
    'https://api.openai.com',
    'openai-responses',
    'https://api.openai.com/v1',
    'https://api.openai.com',
  ],
  ['https://api.openai.com/v1/', 'openai-responses', 'https://api.openai.com/v1'],
  ['https://api.openai.com/v1/responses', 'openai-responses', 'https://api.openai.com/v1'],
  ['https://api.openai.com/v1/chat/completions', 'openai-responses', 'https://api.openai.com/v1'],
  ['https://h.example/v1/chat/completions', 'openai-chat', 'https://h.example/v1'],
  ['https://h.example/v1/completions', 'openai-chat', 'https://h.example/v1'],
  [
    'https://h.example/chat/completions',
    'openai-chat',
    'https://h.example',
    'https://h.example/v1',
  ],
  ['https://h.example/api', 'openai-chat', 'https://h.example/api', 'https://h.example/api/v1'],
  [
    'http://localhost:3000/api/chat/completions',
    'openai-chat',
    'http://localhost:3000/api',
    'http://localhost:3000/api/v1',
  ],
  ['http://litellm:4000', 'openai-chat', 'http://litellm:4000/v1', 'http://litellm:4000'],
  ['https://api.groq.com/openai/v1', 'openai-chat', 'https://api.groq.com/openai/v1'],
  ['https://api.groq.com/openai', 'openai-chat', 'https://api.groq.com/openai/v1'],
  ['https://api.groq.com', 'openai-chat', 'https://api.groq.com/openai/v1'],
  [
    'https://generativelanguage.googleapis.com/v1beta/openai/',
    'openai-chat',
    'https://generativelanguage.googleapis.com/v1beta/openai',
  ],
  [
    'https://generativelanguage.googleapis.com',
    'openai-chat',
    'https://generativelanguage.googleapis.com/v1beta/openai',
  ],
  ['https://openrouter.ai/api/v1', 'openai-chat', 'https://openrouter.ai/api/v1'],
  ['https://openrouter.ai/api/v1/chat/completions', 'openai-chat', 'https://openrouter.ai/api/v1'],
  ['https://openrouter.ai', 'openai-chat', 'https://openrouter.ai/api/v1'],
  // The vendor's own address has no version. It also accepts one.
  ['https://api.deepseek.com', 'openai-chat', 'https://api.deepseek.com'],
  [
    'https://api.deepseek.com/v1',
    'openai-chat',
    'https://api.deepseek.com',
    'https://api.deepseek.com/v1',
  ],
  ['https://api.z.ai/api/paas/v4', 'openai-chat', 'https://api.z.ai/api/paas/v4'],
  ['https://api.z.ai/api/paas/v4/chat/completions', 'openai-chat', 'https://api.z.ai/api/paas/v4'],
  ['https://api.z.ai/api/coding/paas/v4', 'openai-chat', 'https://api.z.ai/api/coding/paas/v4'],
  ['https://open.bigmodel.cn', 'openai-chat', 'https://open.bigmodel.cn/api/paas/v4'],
  [
    'https://ark.cn-beijing.volces.com/api/v3',
    'openai-chat',
    'https://ark.cn-beijing.volces.com/api/v3',
  ],
  ['https://ark.cn-beijing.volces.com', 'openai-chat', 'https://ark.cn-beijing.volces.com/api/v3'],
  [
    'https://dashscope.aliyuncs.com/compatible-mode/v1',
    'openai-chat',
    'https://dashscope.aliyuncs.com/compatible-mode/v1',
  ],
  [
    'https://dashscope-intl.aliyuncs.com/compatible-mode',
    'openai-chat',
    'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
  ],
  ['https://me.openai.azure.com', 'openai-chat', 'https://me.openai.azure.com/openai/v1'],
  [
    'https://me.openai.azure.com/openai/v1/',
    'openai-responses',
    'https://me.openai.azure.com/openai/v1',
  ],
  [
    'https://me.openai.azure.com/openai/v1/responses',
    'openai-responses',
    'https://me.openai.azure.com/openai/v1',
  ],
  [
    'https://gateway.ai.cloudflare.com/v1/acc/gate/compat',
    'openai-chat',
    'https://gateway.ai.cloudflare.com/v1/acc/gate/compat',
  ],
  [
    'https://gateway.ai.cloudflare.com/v1/acc/gate/compat/chat/completions',
    'openai-chat',
    'https://gateway.ai.cloudflare.com/v1/acc/gate/compat',
  ],
  ['https://api.fireworks.ai/inference/v1', 'openai-chat', 'https://api.fireworks.ai/inference/v1'],
  ['https://api.perplexity.ai', 'openai-responses', 'https://api.perplexity.ai/v1'],
  ['https://api.perplexity.ai/v1', 'openai-responses', 'https://api.perplexity.ai/v1'],
  ['https://models.github.ai/inference', 'openai-chat', 'https://models.github.ai/inference'],
  [
    'https://me.services.ai.azure.com/models/chat/completions',
    'openai-chat',
    'https://me.services.ai.azure.com/models',
    'https://me.services.ai.azure.com/models/v1',
  ],
  [
    'https://generativelanguage.googleapis.com',
    'google',
    'https://generativelanguage.googleapis.com/v1beta',
  ],
  [
    'https://generativelanguage.googleapis.com/v1beta/',
    'google',
    'https://generativelanguage.googleapis.com/v1beta',
  ],
  [
    'https://generativelanguage.googleapis.com/v1beta/models',
    'google',
    'https://generativelanguage.googleapis.com/v1beta',
  ],
  [
    'https://generativelanguage.googleapis.com/v1beta/models/gemini-3.8-flash:streamGenerateContent',
    'google',
    'https://generativelanguage.googleapis.com/v1beta',
  ],
  [
    'https://aiplatform.googleapis.com/v1/publishers/google',
    'google',
    'https://aiplatform.googleapis.com/v1/publishers/google',
  ],
  ['https://h.example/v1', 'anthropic', 'https://h.example/v1', 'https://h.example'],
  ['https://h.example/v1', 'openai-responses', 'https://h.example/v1', 'https://h.example'],
  ['https://h.example/V1', 'openai-chat', 'https://h.example/v1', 'https://h.example'],
  ['https://h.example/api/v3', 'openai-chat', 'https://h.example/api/v3', 'https://h.example/api'],
  ['https://h.example/v1/chat', 'openai-chat', 'https://h.example/v1'],
  ['https://h.example/V1/Chat/Completions', 'openai-chat', 'https://h.example/v1'],
  ['https://h.example/chat', 'openai-chat', 'https://h.example/chat', 'https://h.example/chat/v1'],
  [
    'https://api.groq.com/v1',
    'openai-chat',
    'https://api.groq.com/openai/v1',
    'https://api.groq.com/v1',
  ],
  [
    'https://openrouter.ai/v1',
    'openai-chat',
    'https://openrouter.ai/api/v1',
    'https://openrouter.ai/v1',
  ],
  [
    'https://openrouter.ai/v1/chat/completions',
    'openai-chat',
    'https://openrouter.ai/api/v1',
    'https://openrouter.ai/v1',
  ],
  ['https://api.z.ai/v1', 'openai-chat', 'https://api.z.ai/api/paas/v4', 'https://api.z.ai/v1'],
  ['https://api.z.ai/api/paas/v5', 'openai-chat', 'https://api.z.ai/api/paas/v5'],
  [
    'https://api.z.ai/api/coding/v4',
    'openai-chat',
    'https://api.z.ai/api/coding/paas/v4',
    'https://api.z.ai/api/coding/v4',
  ],
  [
    'https://api.githubcopilot.com/v1',
    'openai-chat',
    'https://api.githubcopilot.com',
    'https://api.githubcopilot.com/v1',
  ],
  [
    'https://api.business.githubcopilot.com/v1/chat/completions',
    'openai-chat',
    'https://api.business.githubcopilot.com',
    'https://api.business.githubcopilot.com/v1',
  ],
  [
    'https://api.deepinfra.com/v1',
    'openai-chat',
    'https://api.deepinfra.com/v1/openai',
    'https://api.deepinfra.com/v1',
  ],
  [
    'https://dashscope.aliyuncs.com/api/v1',
    'openai-chat',
    'https://dashscope.aliyuncs.com/compatible-mode/v1',
    'https://dashscope.aliyuncs.com/api/v1',
  ],
  [
    'https://ark.cn-beijing.volces.com/api/coding/v3',
    'openai-chat',
    'https://ark.cn-beijing.volces.com/api/coding/v3',
    'https://ark.cn-beijing.volces.com/api/coding',
  ],
  [
    'http://localhost:11434/api',
    'openai-chat',
    'http://localhost:11434/v1',
    'http://localhost:11434/api',
  ],
  [
    'http://localhost:11434/api/chat',
    'openai-chat',
    'http://localhost:11434/v1',
    'http://localhost:11434/api',
  ],
  [
    'https://ollama.example/api/generate',
    'openai-chat',
    'https://ollama.example/v1',
    'https://ollama.example/api',
  ],
  [
    'https://webui.example/ollama/api/tags/',
    'openai-chat',
    'https://webui.example/ollama/v1',
    'https://webui.example/ollama/api',
  ],
  ['http:/h.example/v1', 'openai-chat', 'http://h.example/v1', 'http://h.example'],
  ['https:h.example', 'openai-chat', 'https://h.example/v1', 'https://h.example'],
  ['https//h.example/v1/', 'openai-chat', 'https://h.example/v1', 'https://h.example'],
  ['https:\\\\h.example\\v1', 'openai-chat', 'https://h.example/v1', 'https://h.example'],
  ['https://https://h.example/v1', 'openai-chat', 'https://h.example/v1', 'https://h.example'],
  [
    'https://http://localhost:8080',
    'openai-chat',
    'http://localhost:8080/v1',
    'http://localhost:8080',
  ],
  ['"https://h.example/v1"', 'openai-chat', 'https://h.example/v1', 'https://h.example'],
  ['localhost:8080/v1', 'openai-chat', 'http://localhost:8080/v1', 'http://localhost:8080'],
  ['192.168.1.5:8000', 'openai-chat', 'http://192.168.1.5:8000/v1', 'http://192.168.1.5:8000'],
  ['api.groq.com/openai/v1', 'openai-chat', 'https://api.groq.com/openai/v1'],
  ['HTTPS://H.example/v1', 'openai-chat', 'https://h.example/v1', 'https://h.example'],
];

test.each(ROWS.map((row) => ({ row })))('$row', ({ row }) => {
  const [text, protocol, baseUrl, otherBaseUrl] = row;
  expect(findCandidateUrls(parseBaseUrl(text, 'X'), protocol)).toEqual(
    otherBaseUrl === undefined ? { baseUrl } : { baseUrl, otherBaseUrl },
  );
});

test.each([
  '',
  'localhost',
  'ftp://h/v1',
  'ttps://h/v1',
  'https://',
  'https://https://',
  'http:',
  'http://a b',
  '/v1',
  '::',
])('rejects the base URL %j', (text) => {
  expect(() => parseBaseUrl(text, 'OPENAI_BASE_URL')).toThrow(
    `OPENAI_BASE_URL must be a URL such as https://host/v1, but is "${text}"`,
  );
});

test('the error about a URL does not repeat a password', () => {
  expect(() => parseBaseUrl('ftp://me:secret@h/v1', 'X')).toThrow(
    'X must be a URL such as https://host/v1, but its value is not',
  );
});

test('a query is kept, and a fragment is not', () => {
  const given = parseBaseUrl(
    'https://me.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21#x',
    'X',
  );
  expect(findCandidateUrls(given, 'openai-chat')).toMatchObject({
    baseUrl: 'https://me.openai.azure.com/openai/deployments/d',
    query: 'api-version=2024-10-21',
  });
});

test('an endpoint determines the protocol if nothing else does', () => {
  const protocolAt = (base: string) => {
    const env = { LLM_MODEL_ID: 'm', LLM_API_KEY: 'k', LLM_BASE_URL: base };
    const settings = { providers: { mine: { baseUrl: base } } };
    return discoverProviders(settings, env).map(({ protocol }) => protocol);
  };
  expect(protocolAt('https://h.example/v1/messages')).toEqual(['anthropic', 'anthropic']);
  expect(protocolAt('https://h.example/v1/responses')).toEqual([
    'openai-responses',
    'openai-responses',
  ]);
  expect(protocolAt('https://h.example/v1/models/m:generateContent')).toEqual(['google', 'google']);
  expect(protocolAt('https://h.example/v1/chat/completions')).toEqual([
    'openai-chat',
    'openai-chat',
  ]);
  expect(protocolAt('https://h.example/v1')).toEqual(['openai-chat', 'openai-chat']);
});

describe.each(WIRES.filter(({ name }) => name !== 'google'))('over $name', (wire) => {
  /** A server that knows one path, and takes whatever else it is asked for as `otherwise` has it. */
  async function serverAt(path: string, otherwise: { status: number; type: string; body: string }) {
    return await serve((response, { url }) => {
      if (url === path) {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(sse(wire.answer));
        return;
      }
      response.writeHead(otherwise.status, { 'content-type': otherwise.type });
      response.end(otherwise.body);
    });
  }

  const asked = request([userMessage('Hi')], {
    model: { provider: 'test', id: wire.model, chain: [] },
  });
  const UNKNOWN = { status: 404, type: 'application/json', body: '{"detail":"Not Found"}' };

  function portAt(baseUrl: string, otherBaseUrl?: string, query?: string) {
    const endpoint = {
      name: 'test',
      baseUrl,
      apiKey: 'k',
      ...(otherBaseUrl === undefined ? {} : { otherBaseUrl }),
      ...(query === undefined ? {} : { query }),
    };
    return createAdapter(wire.dialect, endpoint, adapterDeps());
  }

  test.each([
    UNKNOWN,
    { ...UNKNOWN, status: 405 },
    { status: 200, type: 'text/html', body: '<!doctype html><title>Open WebUI</title>' },
  ])(
    'if the first address fails ($status), the other one is tried once, and kept',
    async (otherwise) => {
      await using server = await serverAt(`/api/v1${wire.path}`, otherwise);
      const port = portAt(`${server.url}/api`, `${server.url}/api/v1`);
      finished(await collect(port, asked));
      finished(await collect(port, asked));
      expect(server.requests.map(({ url }) => url)).toEqual([
        `/api${wire.path}`,
        `/api/v1${wire.path}`,
        `/api/v1${wire.path}`,
      ]);
    },
  );

  test('a version that the server does not have is left out', async () => {
    await using server = await serverAt(wire.path, UNKNOWN);
    const given = parseBaseUrl(`${server.url}/v1`, 'X');
    const { baseUrl, otherBaseUrl } = findCandidateUrls(given, wire.name as ProtocolName);
    const port = portAt(baseUrl, otherBaseUrl);
    finished(await collect(port, asked));
    finished(await collect(port, asked));
    expect(server.requests.map(({ url }) => url)).toEqual([
      `/v1${wire.path}`,
      wire.path,
      wire.path,
    ]);
  });

  test('if the API is at neither address, the first refusal is reported, and the other address is not tried again', async () => {
    await using server = await serverAt('/elsewhere', UNKNOWN);
    const port = portAt(`${server.url}/api`, `${server.url}/api/v1`);
    const first = failed(await collect(port, asked));
    expect(first).toMatchObject({ kind: 'not_found', status: 404 });
    expect(first.message).toContain(`(sent to ${server.url}/api${wire.path})`);
    expect(failed(await collect(port, asked)).message).toBe(first.message);
    expect(server.requests.map(({ url }) => url)).toEqual([
      `/api${wire.path}`,
      `/api/v1${wire.path}`,
      `/api${wire.path}`,
    ]);
  });

  test('an unknown model does not cause a switch to the other address after an answer', async () => {
    await using server = await serve((response, { url }, index) => {
      if (index === 0) {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(sse(wire.answer));
        return;
      }
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: `nothing at ${url}` } }));
    });
    const port = portAt(`${server.url}/api`, `${server.url}/api/v1`);
    finished(await collect(port, asked));
    expect(failed(await collect(port, asked)).kind).toBe('not_found');
    expect(server.requests.map(({ url }) => url)).toEqual([`/api${wire.path}`, `/api${wire.path}`]);
  });

  test('an unknown model does not cause a switch to the other address', async () => {
    await using server = await serve((response) => {
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { type: 'not_found_error', message: 'model: m' } }));
    });
    const port = portAt(`${server.url}/api`, `${server.url}/api/v1`);
    expect(failed(await collect(port, asked)).kind).toBe('not_found');
    expect(server.requests.map(({ url }) => url)).toEqual([`/api${wire.path}`]);
  });

  test('each of several concurrent requests reaches the right address', async () => {
    await using server = await serverAt(`/v1${wire.path}`, UNKNOWN);
    const port = portAt(server.url, `${server.url}/v1`);
    const answers = await Promise.all([1, 2, 3, 4].map(() => collect(port, asked)));
    for (const parts of answers) finished(parts);
    finished(await collect(port, asked));
    expect(server.requests.at(-1)?.url).toBe(`/v1${wire.path}`);
  });

  test('a query is sent with each request, and appears in no message', async () => {
    await using server = await serverAt(`/v1${wire.path}?api-version=1`, UNKNOWN);
    const port = portAt(`${server.url}/v1`, undefined, 'api-version=1');
    finished(await collect(port, asked));
    const elsewhere = portAt(`${server.url}/v2`, undefined, 'key=secret');
    expect(failed(await collect(elsewhere, asked)).message).not.toContain('secret');
  });
});

test.each([
  ['authorization', { authorization: 'Bearer k', 'x-api-key': undefined }],
  ['api-key', { 'api-key': 'k', authorization: undefined, 'x-api-key': undefined }],
  [undefined, { 'x-api-key': 'k', authorization: undefined }],
] as const)('the key in the header %s', async (keyHeader, headers) => {
  const wire = WIRES.find(({ name }) => name === 'anthropic');
  if (wire === undefined) throw new Error('no wire');
  await using server = await serve((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(sse(wire.answer));
  });
  const endpoint = {
    name: 'test',
    baseUrl: server.url,
    apiKey: 'k',
    ...(keyHeader === undefined ? {} : { keyHeader }),
  };
  finished(
    await collect(
      createAdapter(wire.dialect, endpoint, adapterDeps()),
      request([userMessage('Hi')]),
    ),
  );
  const sent = server.requests[0]?.headers ?? {};
  for (const [name, value] of Object.entries(headers)) expect(sent[name]).toBe(value);
});

test('Azure’s older API gets the key in a header of its own', () => {
  const settings = {
    providers: {
      azure: {
        baseUrl: 'https://me.openai.azure.com/openai/deployments/d?api-version=2024-10-21',
        apiKeyEnv: 'AZURE_KEY',
      },
    },
  };
  expect(discoverProviders(settings, { AZURE_KEY: 'k' })[0]).toMatchObject({
    baseUrl: 'https://me.openai.azure.com/openai/deployments/d',
    query: 'api-version=2024-10-21',
    keyHeader: 'api-key',
  });
});
