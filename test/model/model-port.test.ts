import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { createModelPort, type ConnectedModels } from '../../src/model/model-port.ts';
import {
  discoverLocalServers,
  addServedModels,
  chooseServedModel,
  discoverModels,
} from '../../src/model/discover-models.ts';
import { discoverProviders } from '../../src/model/providers/providers.ts';
import { MAIN_AGENT } from '../../src/engine/task/main-agent.ts';
import { resolveMainModel } from '../../src/model/selection/resolve-model.ts';
import { createScriptedModel } from '../scripted-model.ts';
import { userMessage } from '../../src/protocol/message.ts';
import { unknownModel } from '../../src/protocol/listed-model.ts';
import type { ModelPort } from '../../src/protocol/model.ts';
import type { Environment } from '../../src/sys/env.ts';
import {
  adapterDeps,
  answerWith,
  collect,
  failed,
  finished,
  refuseWith,
  request,
  serve,
} from './adapters/support.ts';
import { WIRES } from './adapters/wires.ts';
import { createHttpFetch } from '../../src/sys/http/http-fetch.ts';

const LIMITS = {
  connectMs: 20_000,
  firstTokenMs: 20_000,
  privateFirstTokenMs: 600_000,
  streamIdleMs: 20_000,
};

const ADMISSION = { maxConcurrent: 64, requestsPerMinute: 0 };

function connect(
  env: Environment,
  others: Readonly<Record<string, () => Promise<ModelPort>>> = {},
): ConnectedModels {
  const providers = discoverProviders({ providers: {} }, env);
  return createModelPort({
    ...adapterDeps(),
    providers,
    limits: LIMITS,
    admission: ADMISSION,
    localPorts: others,
  });
}

function ask(provider: string, id = 'some-model') {
  return request([userMessage('Hi')], { model: { provider, id, chain: [] } });
}

test.each([
  ['anthropic', 'anthropic', 'ANTHROPIC', '/v1/messages'],
  ['openai-chat', 'openai', 'OPENAI', '/v1/chat/completions'],
])('a request goes to its provider: %s', async (name, provider, prefix, path) => {
  const wire = WIRES.find((one) => one.name === name)!;
  await using server = await serve(answerWith(wire.answer));
  const env = { [`${prefix}_API_KEY`]: 'k', [`${prefix}_BASE_URL`]: server.url };
  const port = connect(env);
  port.preload({ provider, id: 'm' });
  const { message } = finished(await collect(port, ask(provider, wire.model)));
  expect(message).toEqual(wire.message);
  expect(server.requests[0]?.url).toBe(path);
});

test('the peculiarities of a server that refusals have taught can be read', async () => {
  const wire = WIRES.find(({ name }) => name === 'openai-chat')!;
  const refusals = [
    [404, 'no such page'],
    [400, { error: { message: "Unknown parameter: 'stream_options'" } }],
    [
      400,
      {
        error: {
          message:
            'max_tokens is too large: 5000. This model supports at most 1000 completion tokens',
        },
      },
    ],
    [400, { error: { message: 'reasoning_effort must be low, medium or high' } }],
  ] as const;
  await using server = await serve(async (response, seen, index) => {
    const [status, body] = refusals[index] ?? [200, ''];
    const respond = status === 200 ? answerWith(wire.answer) : refuseWith(status, body);
    await respond(response, seen, index);
  });
  const port = connect({ OPENAI_API_KEY: 'k', OPENAI_BASE_URL: server.url });
  const asked = { ...ask('openai', 'm'), maxOutputTokens: 5000, effort: 'none' as const };
  expect(port.learned(asked.model)).toBeNull();
  finished(await collect(port, asked));
  expect(port.learned(asked.model)).toEqual({
    baseUrl: server.url,
    omit: ['stream_options'],
    outputCap: 1000,
    efforts: new Map([['none', 'low']]),
  });
});

test('Google is reached at its usual path', async () => {
  const wire = WIRES.find(({ name }) => name === 'google')!;
  await using server = await serve(answerWith(wire.answer));
  const port = connect({ GEMINI_API_KEY: 'k', GOOGLE_GEMINI_BASE_URL: server.url });
  finished(await collect(port, ask('google', wire.model)));
  expect(server.requests[0]?.url).toBe(`/v1beta${wire.path}`);
});

test('the Responses protocol is used if it is configured', async () => {
  const wire = WIRES.find(({ name }) => name === 'openai-responses')!;
  await using server = await serve(answerWith(wire.answer));
  const own = { baseUrl: server.url, kind: 'openai-responses' } as const;
  const providers = discoverProviders({ providers: { mine: own } }, {});
  const port = createModelPort({
    ...adapterDeps(),
    providers,
    limits: LIMITS,
    admission: ADMISSION,
  });
  finished(await collect(port, ask('mine', wire.model)));
  expect(server.requests[0]?.url).toBe('/v1/responses');
});

test('a private address has its own limit for the first token', async () => {
  const wire = WIRES.find(({ name }) => name === 'openai-chat')!;
  await using server = await serve(async (response, seen, index) => {
    await new Promise((resolve) => setTimeout(resolve, 100));
    await answerWith(wire.answer)(response, seen, index);
  });
  const providers = discoverProviders({ providers: {} }, { OLLAMA_HOST: server.url });
  const limits = { ...LIMITS, firstTokenMs: 10 };
  const model = createModelPort({ ...adapterDeps(), providers, limits, admission: ADMISSION });
  finished(await collect(model, ask('ollama', wire.model)));
});

test('models that need no network are loaded once, at their first request', async () => {
  let loads = 0;
  const port = connect(
    {},
    {
      offline: async () => {
        loads += 1;
        return createScriptedModel([{ text: 'one' }, { text: 'two' }]);
      },
    },
  );
  expect(loads).toBe(0);
  finished(await collect(port, ask('offline')));
  finished(await collect(port, ask('offline')));
  expect(loads).toBe(1);
});

test('a provider that is not configured is a failure and not an exception', async () => {
  const port = connect({});
  port.preload({ provider: 'nobody', id: 'm' });
  expect(failed(await collect(port, ask('nobody')))).toEqual({
    kind: 'not_found',
    message: 'nobody: no such provider is configured',
    retryable: false,
  });
});

test('setting everything up loads no provider package, no undici and no catalogue', async () => {
  const entry = (name: string): string =>
    fileURLToPath(new URL(`../../src/${name}`, import.meta.url));
  const script = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ resolve(specifier, context, next) {
      if (!specifier.startsWith('.') && !specifier.startsWith('node:') && !specifier.startsWith('file:')) loaded.push(specifier);
      return next(specifier, context);
    } });
    const { discoverProviders } = await import(${JSON.stringify(entry('model/providers/providers.ts'))});
    const { createModelPort } = await import(${JSON.stringify(entry('model/model-port.ts'))});
    const { createModelChooser } = await import(${JSON.stringify(entry('model/selection/model-chooser.ts'))});
    const { createHttpFetch } = await import(${JSON.stringify(entry('sys/http/http-fetch.ts'))});
    const { discoverModels } = await import(${JSON.stringify(entry('model/discover-models.ts'))});
    discoverProviders({ providers: {} }, { ANTHROPIC_API_KEY: 'k' });
    createModelPort({ providers: [] });
    createHttpFetch({});
    const before = [...loaded];
    await discoverModels({ providers: {} }, { env: { ANTHROPIC_API_KEY: 'k' }, fetch: createHttpFetch({}), accounts: [] });
    process.stdout.write(JSON.stringify([before, loaded]));`;
  const args = ['--input-type=module', '--eval', script];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const absolute = (specifier: string): boolean => !specifier.startsWith('/');
  const [before, after] = (JSON.parse(stdout) as string[][]).map((list) => list.filter(absolute));
  expect({ before, after }).toEqual({ before: [], after: [] });
});

const fetch = createHttpFetch({});

function modelServer(ids: readonly string[]) {
  return serve((response, { url }) => {
    const isList = url === '/v1/models';
    response.writeHead(isList ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isList ? { data: ids.map((id) => ({ id })) } : {}));
  });
}

function port(url: string): string {
  return new URL(url).port;
}

test('finds local servers with their first chat model', async () => {
  await using ollama = await modelServer(['nomic-embed-text', 'qwen3:8b', 'llama3']);
  await using empty = await modelServer([]);
  const problems: string[] = [];
  const found = await discoverLocalServers(fetch, (problem) => void problems.push(problem), {
    ollama: port(ollama.url),
    lmStudio: port(empty.url),
  });
  expect(problems).toEqual([
    `LM Studio runs on port ${port(empty.url)} but has no model. Download one in LM Studio first.`,
  ]);
  expect(found).toEqual([
    {
      name: 'ollama',
      protocol: 'openai-chat',
      baseUrl: `${ollama.url}/v1`,
      apiKey: null,
      source: `found on port ${port(ollama.url)}`,
      quirks: { thoughts: 'reasoning' },
      vendor: null,
      tiers: { balanced: 'qwen3:8b' },
      models: ['nomic-embed-text', 'qwen3:8b', 'llama3'],
      isPrivate: true,
    },
  ]);
  const main = resolveMainModel(
    { settings: { providers: {} }, providers: found },
    { agent: MAIN_AGENT, prompt: '' },
  );
  expect(main).toMatchObject({ provider: 'ollama', id: 'qwen3:8b' });
});

test('keeps what a local server states about its models', async () => {
  await using ollama = await serve((response, { url }) => {
    const names = [{ name: 'big' }, { name: 'small' }];
    const answers: Readonly<Record<string, object>> = {
      '/v1/models': { data: names.map(({ name }) => ({ id: name, owned_by: 'library' })) },
      '/api/tags': { models: names },
      '/api/ps': { models: [{ name: 'small', context_length: 4096 }] },
    };
    response.writeHead(answers[url] === undefined ? 404 : 200);
    response.end(JSON.stringify(answers[url] ?? {}));
  });
  const [found] = await discoverLocalServers(fetch, () => {}, {
    ollama: port(ollama.url),
    lmStudio: '9',
  });
  expect(found).toMatchObject({
    tiers: { balanced: 'small' },
    models: ['big', 'small'],
    listed: [
      { ...unknownModel('big'), loaded: false },
      { ...unknownModel('small'), contextWindow: 4096, loaded: true },
    ],
  });
});

test.each([
  [[{ id: 'a' }, { id: 'b' }], 'a'],
  [[{ id: 'nomic-embed-text' }, { id: 'b' }], 'b'],
  [
    [
      { id: 'a', chat: false },
      { id: 'my-embed', chat: true },
    ],
    'my-embed',
  ],
  [
    [
      { id: 'a', tools: false, loaded: true },
      { id: 'b', tools: true },
    ],
    'b',
  ],
  [
    [
      { id: 'a', tools: true },
      { id: 'b', loaded: true },
    ],
    'b',
  ],
  [[{ id: 'a', tools: false }], 'a'],
  [[{ id: 'whisper' }], null],
  [[], null],
])('of %j, a local server answers with %s by default', (models, expected) => {
  const listed = models.map((model) => ({ ...unknownModel(''), ...model }));
  expect(chooseServedModel(listed)).toBe(expected);
});

test('a server that is slow, silent, strange or missing is not a local server', async () => {
  await using silent = await serve(() => {});
  await using odd = await serve((response) => void response.end('<html>'));
  const gone = await modelServer(['x']);
  await gone[Symbol.asyncDispose]();
  const [a, b, c] = [silent, odd, gone].map(({ url }) => port(url));
  expect(await discoverLocalServers(fetch, () => {}, { ollama: a!, lmStudio: b! })).toEqual([]);
  expect(await discoverLocalServers(fetch, () => {}, { ollama: c!, lmStudio: a! })).toEqual([]);
});

test('a configured local server is asked for its models, and others are not', async () => {
  await using ollama = await modelServer(['qwen3:8b']);
  const env = { OLLAMA_HOST: ollama.url };
  const { providers } = await discoverModels({ providers: {} }, { env, fetch, accounts: [] });
  expect(providers).toMatchObject([{ tiers: { balanced: 'qwen3:8b' }, models: ['qwen3:8b'] }]);
  await using other = await modelServer(['x']);
  const gateway = { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: other.url };
  await discoverModels({ providers: {} }, { env: gateway, fetch, accounts: [] });
  expect(other.requests).toEqual([]);
  const [bare] = discoverProviders({ providers: {} }, { OLLAMA_HOST: 'http://127.0.0.1:9' });
  expect(await addServedModels(bare!, fetch)).toEqual({
    ...bare,
    listProblem: 'no connection: connect ECONNREFUSED 127.0.0.1:9',
  });
});

test('a dead local server causes no wait if a model is named or known', async () => {
  const never = (): Promise<never> => Promise.reject(new Error('asked'));
  for (const [env, settings] of [
    [{ OLLAMA_HOST: 'localhost' }, { flag: 'ollama/qwen3', providers: {} }],
    [{ OLLAMA_HOST: 'localhost', ANTHROPIC_API_KEY: 'k' }, { providers: {} }],
  ] as const) {
    const { providers } = await discoverModels(settings, { env, fetch: never, accounts: [] });
    expect(providers).toEqual(discoverProviders(settings, env));
  }
});

test('the offline flag causes no request', async () => {
  const settings = { flag: 'offline', providers: {} };
  const never = (): Promise<never> => Promise.reject(new Error('asked'));
  expect(await discoverModels(settings, { env: {}, fetch: never, accounts: [] })).toEqual({
    settings,
    providers: [],
  });
});
