import { describe, expect, it, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { unknownModel, type ListedModel } from '../../../src/protocol/listed-model.ts';
import type { KeyReader } from '../../../src/protocol/api-key.ts';
import { requestModels, type ListOutcome } from '../../../src/model/listing/request-models.ts';
import type { ConfiguredProvider } from '../../../src/model/providers/configured-provider.ts';
import { discoverProviders } from '../../../src/model/providers/providers.ts';
import type { ProviderSettings } from '../../../src/model/settings/model-settings.ts';
import { createHttpFetch } from '../../../src/sys/http/http-fetch.ts';
import type { HttpFetch, HttpResponse } from '../../../src/sys/http/http-types.ts';
import { serve, type SeenRequest, type TestServer } from '../adapters/support.ts';

const KEY = 'sk-SECRET-OF-THE-USER';

function configure(name: string, settings: ProviderSettings): ConfiguredProvider {
  const key = settings.apiKeyFile === undefined ? { apiKeyEnv: 'KEY' } : {};
  const providers = { [name]: { ...key, ...settings } };
  const [provider] = discoverProviders({ providers }, { KEY });
  return provider!;
}

interface Answers {
  readonly [path: string]: unknown;
}

/** A server with a JSON document at each path, with or without a query; a text is sent as it is, a number is a status. */
function listServer(answers: Answers): Promise<TestServer> {
  return serve((response, { url }) => {
    const answer = answers[url] ?? answers[url.replace(/\?.*$/, '')] ?? 404;
    if (typeof answer === 'number') {
      response.writeHead(answer, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: `no ${url}` } }));
      return;
    }
    const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
    const type = text.startsWith('<') ? 'text/html' : 'application/json';
    response.writeHead(200, { 'content-type': type });
    response.end(text);
  });
}

interface AskOptions {
  readonly fetch?: HttpFetch;
  readonly keys?: KeyReader;
  readonly timeoutMs?: number;
  readonly isDetailed?: boolean;
}

function ask(
  provider: ConfiguredProvider,
  { timeoutMs = 20_000, isDetailed = true, ...deps }: AskOptions = {},
): Promise<ListOutcome> {
  const all = { fetch: createHttpFetch({}), clock: systemClock, ...deps };
  return requestModels(provider, all, { timeoutMs, isDetailed });
}

function listed(...models: readonly (Partial<ListedModel> & { readonly id: string })[]) {
  return { models: models.map((model) => Object.assign(unknownModel(''), model)), isCut: false };
}

function paths({ requests }: TestServer): readonly string[] {
  return requests.map(({ method, url }) => `${method} ${url}`);
}

const IDS = { data: [{ id: 'a' }] };

describe('a list is requested', () => {
  it.each([
    ['anthropic', '', '/v1/models?limit=1000', 'x-api-key', KEY],
    ['google', '', '/v1beta/models?pageSize=1000', 'x-goog-api-key', KEY],
    ['openai-compatible', '/v1', '/v1/models', 'authorization', `Bearer ${KEY}`],
    ['openai-responses', '/v1', '/v1/models', 'authorization', `Bearer ${KEY}`],
    ['anthropic', '/api/anthropic', '/api/anthropic/v1/models?limit=1000', 'x-api-key', KEY],
    [
      'openai-compatible',
      '/v1?api-version=2',
      '/v1/models?api-version=2',
      'authorization',
      `Bearer ${KEY}`,
    ],
  ] as const)('with the %s protocol at "%s"', async (kind, path, url, header, value) => {
    await using server = await listServer({ [url]: IDS });
    const provider = configure('mine', { kind, baseUrl: `${server.url}${path}` });
    expect(await ask(provider)).toEqual(listed({ id: 'a' }));
    expect(paths(server)).toEqual([`GET ${url}`]);
    const { headers } = server.requests[0]!;
    expect(headers).toMatchObject({ [header]: value, accept: 'application/json' });
    expect(headers['user-agent']).toMatch(/^muster\//);
  });

  it('without a key if there is none, and with the headers of the provider', async () => {
    await using server = await listServer({ '/v1/models': IDS });
    const own = configure('mine', { baseUrl: `${server.url}/v1` });
    const keyless = { ...own, apiKey: null, headers: { 'x-title': 'Muster' } };
    expect(await ask(keyless)).toEqual(listed({ id: 'a' }));
    expect(server.requests[0]!.headers).toMatchObject({ 'x-title': 'Muster' });
    expect(server.requests[0]!.headers).not.toHaveProperty('authorization');
  });

  it('at the other base URL if the first one has none', async () => {
    await using server = await listServer({ '/api/models': '<html>', '/api/v1/models': IDS });
    const provider = configure('mine', { baseUrl: `${server.url}/api` });
    expect(await ask(provider)).toEqual(listed({ id: 'a' }));
    expect(paths(server)).toEqual(['GET /api/models', 'GET /api/v1/models']);
  });

  it('again with a new key if the server refuses the old one', async () => {
    await using server = await serve((response, { headers }) => {
      const isOld = headers['authorization'] === 'Bearer old-key-1234';
      response.writeHead(isOld ? 401 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(isOld ? { error: 'expired' } : IDS));
    });
    const settings = { baseUrl: `${server.url}/v1`, apiKeyFile: '/key' };
    const provider = configure('mine', settings);
    const keys: KeyReader = {
      read: (_, options) =>
        Promise.resolve(options?.refused === 'old-key-1234' ? 'new-key-1234' : 'old-key-1234'),
    };
    expect(await ask(provider, { keys })).toEqual(listed({ id: 'a' }));
  });
});

describe('pages', () => {
  const page = (ids: readonly string[], more: object) => ({
    data: ids.map((id) => ({ id })),
    ...more,
  });

  it('of Anthropic are followed', async () => {
    const first = '/v1/models?limit=1000';
    await using server = await listServer({
      [first]: page(['a', 'b'], { has_more: true, last_id: 'b' }),
      [`${first}&after_id=b`]: page(['c'], { has_more: false, last_id: 'c' }),
    });
    const provider = configure('mine', { kind: 'anthropic', baseUrl: server.url });
    expect(await ask(provider)).toEqual(listed({ id: 'a' }, { id: 'b' }, { id: 'c' }));
  });

  it('of Google are followed', async () => {
    const first = '/v1beta/models?pageSize=1000';
    await using server = await listServer({
      [first]: { models: [{ name: 'models/a' }], nextPageToken: 'x/+=' },
      [`${first}&pageToken=${encodeURIComponent('x/+=')}`]: { models: [{ name: 'models/b' }] },
    });
    const provider = configure('mine', { kind: 'google', baseUrl: server.url });
    expect(await ask(provider)).toEqual(listed({ id: 'a' }, { id: 'b' }));
  });

  it('without new models end the list', async () => {
    await using server = await listServer({
      '/v1/models': page(['a'], { has_more: true, last_id: 'a' }),
    });
    const provider = configure('mine', { baseUrl: `${server.url}/v1` });
    expect(await ask(provider)).toEqual(listed({ id: 'a' }));
    expect(server.requests.length).toBe(2);
  });

  it('without an end are cut', async () => {
    await using server = await serve((response, _, index) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(page([`m${index}`], { has_more: true, last_id: `m${index}` })));
    });
    const provider = configure('mine', { baseUrl: `${server.url}/v1` });
    expect(await ask(provider)).toMatchObject({ isCut: true });
    expect(server.requests.length).toBe(20);
  });

  it('that fail leave the list of the pages before them', async () => {
    await using server = await listServer({
      '/v1/models': page(['a'], { has_more: true, last_id: 'a' }),
      '/v1/models?after=a': 500,
    });
    const provider = configure('mine', { baseUrl: `${server.url}/v1` });
    expect(await ask(provider)).toEqual({ ...listed({ id: 'a' }), isCut: true });
  });
});

describe('Ollama', () => {
  const show = ({ body }: SeenRequest): unknown => {
    const { model } = JSON.parse(body) as { model: string };
    // https://github.com/ollama/ollama/blob/main/docs/api.md
    return {
      qwen: {
        model_info: { 'general.architecture': 'qwen3', 'qwen3.context_length': 40_960 },
        capabilities: ['completion', 'tools', 'thinking'],
      },
      llava: {
        parameters: 'stop           "</s>"\nnum_ctx        32768',
        model_info: { 'llama.context_length': 8192 },
        capabilities: ['completion', 'vision'],
      },
    }[model];
  };
  const server = (hasOwnApi: boolean) =>
    serve((response, seen) => {
      const names = [{ name: 'qwen' }, { name: 'llava' }, { name: 'gone' }];
      const answers: Answers = {
        '/v1/models': { data: names.map(({ name }) => ({ id: name, owned_by: 'library' })) },
        ...(hasOwnApi && {
          '/api/tags': { models: names },
          '/api/ps': { models: [{ name: 'qwen', context_length: 4096 }] },
          '/api/show': seen.method === 'POST' ? show(seen) : undefined,
        }),
      };
      const answer = answers[seen.url];
      response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer ?? { error: 'not found' }));
    });

  it.each(['ollama', 'mine'])('named %s is asked at addresses of its own', async (name) => {
    await using ollama = await server(true);
    const provider = configure(name, { kind: 'openai-compatible', baseUrl: `${ollama.url}/v1` });
    const known = { pdf: null, loaded: false };
    expect(await ask(provider)).toEqual(
      listed(
        {
          ...known,
          id: 'qwen',
          contextWindow: 4096,
          tools: true,
          images: false,
          reasoning: true,
          loaded: true,
        },
        {
          ...known,
          id: 'llava',
          contextWindow: 32_768,
          tools: false,
          images: true,
          reasoning: false,
        },
        { ...known, id: 'gone' },
      ),
    );
  });

  it('is not asked for each model where that would take too long', async () => {
    await using ollama = await server(true);
    const provider = configure('ollama', { baseUrl: `${ollama.url}/v1` });
    expect(await ask(provider, { isDetailed: false })).toEqual(
      listed(
        { id: 'qwen', contextWindow: 4096, loaded: true },
        { id: 'llava', loaded: false },
        { id: 'gone', loaded: false },
      ),
    );
    expect(paths(ollama).toSorted()).toEqual(['GET /api/ps', 'GET /api/tags', 'GET /v1/models']);
  });

  it('without its own API has the list of the protocol', async () => {
    await using ollama = await server(false);
    const provider = configure('ollama', { baseUrl: `${ollama.url}/v1` });
    expect(await ask(provider)).toEqual(listed({ id: 'qwen' }, { id: 'llava' }, { id: 'gone' }));
  });
});

describe('LM Studio', () => {
  const ids = { data: [{ id: 'g', object: 'model', owned_by: 'organization_owner' }] };

  it('is recognized by its list, and states the loaded context', async () => {
    const instance = { id: 'g', config: { context_length: 4096 } };
    await using server = await listServer({
      '/v1/models': ids,
      '/api/v1/models': {
        models: [
          { type: 'llm', key: 'g', loaded_instances: [instance], max_context_length: 262_144 },
          { type: 'llm', key: 'h', loaded_instances: [], max_context_length: 8192 },
        ],
      },
    });
    const provider = configure('mine', { baseUrl: `${server.url}/v1` });
    expect(await ask(provider)).toEqual(
      listed(
        { id: 'g', contextWindow: 4096, chat: true, loaded: true },
        { id: 'h', contextWindow: 8192, chat: true, loaded: false },
      ),
    );
  });

  it('without a loaded model lists those that it could load', async () => {
    await using server = await listServer({
      '/v1/models': { data: [] },
      '/api/v1/models': { models: [{ type: 'llm', key: 'h', loaded_instances: [] }] },
    });
    const provider = configure('lmstudio', { baseUrl: `${server.url}/v1` });
    expect(await ask(provider)).toEqual(listed({ id: 'h', chat: true, loaded: false }));
  });

  it('that is not there is asked once', async () => {
    const urls: string[] = [];
    const fetch: HttpFetch = (address) => {
      urls.push(String(address));
      return Promise.reject(new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') }));
    };
    const provider = configure('lmstudio', { baseUrl: 'http://127.0.0.1:1234/v1' });
    expect(await ask(provider, { fetch })).toEqual({ problem: 'no connection: ECONNREFUSED' });
    expect(urls).toEqual(['http://127.0.0.1:1234/v1/models']);
  });

  it('of an older version is asked at its older address', async () => {
    await using server = await listServer({
      '/v1/models': ids,
      '/api/v0/models': { data: [{ id: 'g', state: 'not-loaded', max_context_length: 8192 }] },
    });
    const provider = configure('lmstudio', { baseUrl: `${server.url}/v1` });
    expect(await ask(provider)).toEqual(listed({ id: 'g', contextWindow: 8192, loaded: false }));
    expect(paths(server)).toEqual(['GET /v1/models', 'GET /api/v1/models', 'GET /api/v0/models']);
  });
});

describe('llama.cpp', () => {
  // https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
  const PROPS = {
    default_generation_settings: { id: 0, n_ctx: 6144 },
    total_slots: 2,
    modalities: { vision: true, audio: false },
    chat_template_caps: { supports_tools: true, supports_tool_calls: true },
  };

  it('states the window of one conversation', async () => {
    const meta = { n_ctx: 12_288, n_ctx_train: 32_768 };
    await using server = await listServer({
      '/v1/models': { data: [{ id: 'q', owned_by: 'llamacpp', meta }] },
      '/props': PROPS,
    });
    const provider = configure('mine', { baseUrl: `${server.url}/v1` });
    expect(await ask(provider)).toEqual(
      listed({ id: 'q', contextWindow: 6144, tools: true, images: true }),
    );
  });

  it('that serves several models is not asked for properties, which would load one', async () => {
    const entry = (id: string) => ({ id, owned_by: 'llamacpp', status: { value: 'unloaded' } });
    await using server = await listServer({
      '/v1/models': { data: [entry('a')] },
      '/props': PROPS,
    });
    const provider = configure('llamacpp', { baseUrl: `${server.url}/v1` });
    expect(await ask(provider)).toEqual(listed({ id: 'a', loaded: false }));
    expect(paths(server)).toEqual(['GET /v1/models']);
  });
});

test('LiteLLM states windows and prices at an address of its own', async () => {
  const info = { max_input_tokens: 8192, input_cost_per_token: 1e-6, output_cost_per_token: 2e-6 };
  await using server = await listServer({
    '/v1/models': { data: [{ id: 'gpt-4', created: 1_677_610_602, owned_by: 'openai' }] },
    '/v1/model/info': {
      data: [
        { model_name: 'gpt-4', model_info: info },
        { model_name: 'openai/*', model_info: {} },
      ],
    },
  });
  const provider = configure('mine', { baseUrl: server.url });
  const price = { input: 1, output: 2, cacheRead: 1, cacheWrite: 1 };
  expect(await ask(provider)).toEqual(listed({ id: 'gpt-4', contextWindow: 8192, price }));
});

describe('a vendor with a list of its own', () => {
  /** Answers for hosts that tests must not reach. */
  function fakeFetch(answers: Answers): { readonly fetch: HttpFetch; readonly urls: string[] } {
    const urls: string[] = [];
    const fetch: HttpFetch = async (address) => {
      urls.push(String(address));
      const answer = answers[String(address)] ?? 404;
      const text = typeof answer === 'number' ? '{"error":"no"}' : JSON.stringify(answer);
      const status = typeof answer === 'number' ? answer : 200;
      return new Response(text, { status }) as unknown as HttpResponse;
    };
    return {
      urls,
      fetch: async (address, init) => {
        const { status, statusText, ok, headers, body } = (await fetch(
          address,
          init,
        )) as unknown as Response;
        const reader = body!.getReader();
        const read = async () => (await reader.read()).value ?? null;
        const cancel = () => reader.cancel();
        return {
          status,
          statusText,
          ok,
          headers,
          body: { read, cancel },
        } as unknown as HttpResponse;
      },
    };
  }

  it.each([
    [
      'cerebras',
      'https://api.cerebras.ai/v1/models',
      'https://api.cerebras.ai/public/v1/models',
      { data: [{ id: 'a', limits: { max_context_length: 500 } }, { id: 'not for this account' }] },
    ],
    [
      'xai',
      'https://api.x.ai/v1/models',
      'https://api.x.ai/v1/language-models',
      { models: [{ id: 'a', context_length: 500 }, { id: 'not for this account' }] },
    ],
  ])('%s: only models of the account are listed', async (name, usual, own, document) => {
    const { fetch, urls } = fakeFetch({ [usual]: IDS, [own]: document });
    const provider = configure(name, {});
    expect(await ask(provider, { fetch })).toEqual(listed({ id: 'a', contextWindow: 500 }));
    expect(urls).toEqual([usual, own]);
  });

  it('Fireworks: the list of all accounts replaces one that fails', async () => {
    const usual = 'https://api.fireworks.ai/inference/v1/models';
    const own =
      'https://api.fireworks.ai/v1/accounts/fireworks/models?filter=supports_serverless%3Dtrue&pageSize=200';
    const models = [{ name: 'accounts/fireworks/models/k', contextLength: 500 }];
    const { fetch } = fakeFetch({ [usual]: 500, [own]: { models } });
    const provider = configure('fireworks', {
      kind: 'openai-compatible',
      baseUrl: 'https://api.fireworks.ai/inference/v1',
    });
    const id = 'accounts/fireworks/models/k';
    expect(await ask(provider, { fetch })).toEqual(listed({ id, contextWindow: 500 }));
    const refused = fakeFetch({ [usual]: 401, [own]: { models } });
    expect(await ask(provider, refused)).toMatchObject({
      problem: expect.stringContaining('HTTP 401: no'),
    });
  });
});

describe('a problem', () => {
  it.each([
    ['a refused key', 401, /^HTTP 401: no \/v1\/models \(sent to .* with the key in KEY\)$/],
    ['no list', 404, /^the server has no list of models: HTTP 404: no \/models \(sent to .*\)$/],
    ['no JSON', '{"data":[', /^the answer is no JSON: http.*\/v1\/models$/],
    ['no list in the JSON', {}, /^the answer is no list of models: http.*\/v1\/models$/],
    ['a page', '<!DOCTYPE html><title>Sign in</title>', /a web page instead of an answer.*Sign in/],
  ])('is described: %s', async (_, answer, problem) => {
    await using server = await listServer({ '/v1/models': answer, '/models': answer });
    const provider = configure('mine', { baseUrl: `${server.url}/v1` });
    const outcome = await ask(answer === 404 ? { ...provider, baseUrl: server.url } : provider);
    expect(outcome).toEqual({ problem: expect.stringMatching(problem) });
  });

  it.each(['application/json', 'text/plain'])('is a list that is too large: %s', async (type) => {
    await using server = await serve((response) => {
      response.writeHead(200, { 'content-type': type });
      const send = (): void => {
        while (!response.destroyed && response.write(' '.repeat(65_536)));
      };
      response.on('drain', send);
      send();
    });
    const provider = configure('mine', { baseUrl: `${server.url}/v1` });
    expect(await ask(provider)).toEqual({
      problem: 'the list is larger than the limit of 16777216 bytes',
    });
  });

  it('is a server that does not answer, or not to the end', async () => {
    await using silent = await serve(() => {});
    await using slow = await serve((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"data":[');
    });
    for (const { url } of [silent, slow]) {
      const provider = configure('mine', { baseUrl: `${url}/v1` });
      expect(await ask(provider, { timeoutMs: 300 })).toEqual({
        problem: 'no answer within 0.3 s',
      });
    }
  });

  it('is a key that cannot be read', async () => {
    const settings = { baseUrl: 'http://127.0.0.1:9/v1', apiKeyFile: '/key' };
    const provider = configure('mine', settings);
    const keys = { read: () => Promise.reject(new Error('/key cannot be read')) };
    expect(await ask(provider, { keys })).toEqual({ problem: '/key cannot be read' });
  });

  it('never contains the key, and neither does a list', async () => {
    await using server = await serve((response, { headers }, index) => {
      response.writeHead(index === 0 ? 401 : 200, { 'content-type': 'application/json' });
      const { authorization } = headers;
      const list = { data: [{ id: 'a' }, { id: `key ${KEY}` }] };
      response.end(JSON.stringify(index === 0 ? { error: `bad ${authorization}` } : list));
    });
    const provider = configure('mine', { baseUrl: `${server.url}/v1` });
    const refused = await ask(provider);
    expect(refused).toMatchObject({ problem: expect.stringContaining('bad Bearer [key]') });
    expect(await ask(provider)).toEqual(listed({ id: 'a' }));
  });

  it.each(['sk-"quoted"-key', String.raw`sk-\back\slash`])(
    'never contains a key that JSON escapes: %s',
    async (apiKey) => {
      await using server = await listServer({
        '/v1/models': { data: [{ id: 'a' }, { id: `key ${apiKey}` }] },
      });
      const provider = configure('mine', { baseUrl: `${server.url}/v1` });
      expect(await ask({ ...provider, apiKey })).toEqual(listed({ id: 'a' }));
    },
  );
});
