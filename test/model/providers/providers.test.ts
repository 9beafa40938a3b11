import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/base/errors.ts';
import { isPrivateHost } from '../../../src/model/providers/vendors.ts';
import { parseOllamaHost } from '../../../src/model/providers/base-url.ts';
import type {
  ModelSettings,
  ProviderSettings,
} from '../../../src/model/settings/model-settings.ts';
import { MAIN_AGENT } from '../../../src/engine/task/main-agent.ts';
import { resolveMainModel } from '../../../src/model/selection/resolve-model.ts';
import {
  discoverProviders,
  describeUnusedVariables,
} from '../../../src/model/providers/providers.ts';
import type { Environment } from '../../../src/sys/env.ts';

const USER = { agent: MAIN_AGENT, prompt: '' };

function discover(env: Environment, providers: Record<string, ProviderSettings> = {}) {
  const settings: ModelSettings = { providers };
  return discoverProviders(settings, env);
}

const CLAUDE = {
  fast: 'claude-haiku-4-5',
  balanced: 'claude-sonnet-5',
  powerful: 'claude-opus-5-5',
};

test('an empty environment has no provider', () => {
  expect(discover({})).toEqual([]);
  expect(discover({ ANTHROPIC_API_KEY: ' ', OPENAI_API_KEY: '', OLLAMA_HOST: '' })).toEqual([]);
});

test('finds Anthropic by its key', () => {
  expect(discover({ ANTHROPIC_API_KEY: 'k' })).toEqual([
    {
      name: 'anthropic',
      protocol: 'anthropic',
      baseUrl: 'https://api.anthropic.com/v1',
      apiKey: 'k',
      keyFrom: 'ANTHROPIC_API_KEY',
      source: 'ANTHROPIC_API_KEY',
      vendor: 'anthropic',
      tiers: CLAUDE,
      models: null,
      isPrivate: false,
    },
  ]);
});

test('finds all providers in the order of preference', () => {
  const env = {
    OLLAMA_HOST: 'localhost',
    GOOGLE_API_KEY: 'g',
    OPENAI_API_KEY: 'o',
    ANTHROPIC_API_KEY: 'a',
    LIGHT_LLM_MODEL_ID: 'small',
    LIGHT_LLM_BASE_URL: 'http://10.0.0.1:8000/v1',
    LLM_MODEL_ID: 'gpt-6-sol',
    LLM_API_KEY: 'l',
  };
  const own = { mine: { baseUrl: 'https://models.example/v1', apiKeyEnv: 'OPENAI_API_KEY' } };
  const found = discover(env, own).map(({ name, protocol, apiKey, source }) => [
    name,
    protocol,
    apiKey,
    source,
  ]);
  expect(found).toEqual([
    ['mine', 'openai-chat', 'o', 'models.providers.mine'],
    ['llm', 'openai-responses', 'l', 'LLM_MODEL_ID'],
    ['light_llm', 'openai-chat', null, 'LIGHT_LLM_MODEL_ID'],
    ['anthropic', 'anthropic', 'a', 'ANTHROPIC_API_KEY'],
    ['openai', 'openai-responses', 'o', 'OPENAI_API_KEY'],
    ['google', 'google', 'g', 'GOOGLE_API_KEY'],
    ['ollama', 'openai-chat', null, 'OLLAMA_HOST'],
  ]);
});

test.each<[Environment, string, string]>([
  [{ ANTHROPIC_BASE_URL: 'https://gate.example' }, 'anthropic', 'https://gate.example/v1'],
  [{ ANTHROPIC_BASE_URL: 'https://gate.example/v1/' }, 'anthropic', 'https://gate.example/v1'],
  [{ ANTHROPIC_BASE_URL: 'https://gate.example/a' }, 'anthropic', 'https://gate.example/a/v1'],
  [{ OPENAI_BASE_URL: 'https://gate.example/v1' }, 'openai-chat', 'https://gate.example/v1'],
  [{ OPENAI_BASE_URL: 'https://gate.example' }, 'openai-chat', 'https://gate.example/v1'],
  [
    { OPENAI_BASE_URL: 'https://api.openai.com/v1' },
    'openai-responses',
    'https://api.openai.com/v1',
  ],
  [{ GOOGLE_GEMINI_BASE_URL: 'https://gate.example' }, 'google', 'https://gate.example/v1beta'],
  [
    { GOOGLE_GEMINI_BASE_URL: 'https://gate.example/v1beta' },
    'google',
    'https://gate.example/v1beta',
  ],
])('%j', (env, protocol, baseUrl) => {
  const keys = { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k', GEMINI_API_KEY: 'k' };
  const found = discover({ ...keys, ...env }).find((one) => one.protocol === protocol);
  expect(found?.baseUrl).toBe(baseUrl);
});

test('a base URL on this machine needs no key and has models of its own', () => {
  expect(discover({ OPENAI_BASE_URL: 'http://localhost:1234/v1' })).toEqual([
    {
      name: 'openai',
      protocol: 'openai-chat',
      baseUrl: 'http://localhost:1234/v1',
      otherBaseUrl: 'http://localhost:1234',
      apiKey: null,
      source: 'OPENAI_BASE_URL',
      vendor: null,
      tiers: {},
      models: null,
      isPrivate: true,
    },
  ]);
  expect(discover({ OPENAI_BASE_URL: 'https://gate.example/v1' })).toEqual([]);
});

test.each<[Environment, object]>([
  [
    { ANTHROPIC_AUTH_TOKEN: 't' },
    { apiKey: 't', keyFrom: 'ANTHROPIC_AUTH_TOKEN', keyHeader: 'authorization' },
  ],
  [
    { ANTHROPIC_AUTH_TOKEN: 't', ANTHROPIC_API_KEY: 'k' },
    { apiKey: 't', keyFrom: 'ANTHROPIC_AUTH_TOKEN', source: 'ANTHROPIC_AUTH_TOKEN' },
  ],
  [{ ANTHROPIC_AUTH_TOKEN: ' ', ANTHROPIC_API_KEY: ' "k" ' }, { apiKey: 'k' }],
  [{ OPENAI_API_KEY: "'sk-1'" }, { apiKey: 'sk-1', keyFrom: 'OPENAI_API_KEY' }],
  [{ GOOGLE_API_KEY: '\uFEFFk\u00A0\n' }, { apiKey: 'k', keyFrom: 'GOOGLE_API_KEY' }],
  [{ OPENAI_API_KEY: 'Bearer sk-1' }, { apiKey: 'sk-1' }],
  [{ OPENAI_API_KEY: '"bearer  sk-1"' }, { apiKey: 'sk-1' }],
  [{ OPENAI_API_KEY: 'Authorization: Bearer "sk-1"' }, { apiKey: 'sk-1' }],
  [{ ANTHROPIC_API_KEY: 'x-api-key: sk-1' }, { apiKey: 'sk-1' }],
  [
    { GOOGLE_API_KEY: 'Bearer ', GEMINI_API_KEY: 'k' },
    { apiKey: 'k', keyFrom: 'GEMINI_API_KEY' },
  ],
  [{ OPENAI_API_KEY: 'bearer-1' }, { apiKey: 'bearer-1' }],
])('reads the key from %j', (env, expected) => {
  expect(discover(env)).toEqual([expect.objectContaining(expected)]);
});

test('the token of a gateway is sent as a bearer token wherever it is configured', () => {
  const own = { baseUrl: 'https://gate.example/anthropic', apiKeyEnv: 'GATE_AUTH_TOKEN' };
  expect(discover({ GATE_AUTH_TOKEN: 't' }, { gate: own })[0]).toMatchObject({
    protocol: 'anthropic',
    apiKey: 't',
    keyHeader: 'authorization',
  });
});

test.each([
  ['google', 'GEMINI_AUTH_TOKEN'],
  ['openai', 'OPENAI_AUTH_TOKEN'],
  ['openai-compatible', 'GATE_AUTH_TOKEN'],
] as const)('the header of a key follows the protocol, not the name: %s', (kind, name) => {
  const own = { kind, baseUrl: 'https://gate.example/v1', apiKeyEnv: name };
  const [found] = discover({ [name]: 'k' }, { gate: own });
  expect(found?.apiKey).toBe('k');
  expect(found).not.toHaveProperty('keyHeader');
});

test.each([
  ['\u201Csk-1\u201D', 'its character 1 of 6 is a typographic quote (U+201C)'],
  ['sk-\u200B1', 'its character 4 of 5 is a zero-width space (U+200B)'],
  ['\u200Bsk-1', 'its character 1 of 5 is a zero-width space (U+200B)'],
  ['sk\u00A0-1', 'its character 3 of 5 is a no-break space (U+00A0)'],
  ['sk-\uFEFF1', 'its character 4 of 5 is a byte order mark (U+FEFF)'],
  ['sk-1\nsk-2', 'its character 5 of 9 is a line break (U+000A)'],
  ['sk–1', 'its character 3 of 4 is an en dash (U+2013)'],
  ['ключ', 'its character 1 of 4 is U+043A'],
  ['sk-é', 'its character 4 of 4 is U+00E9'],
  ['sk-🔑1', 'its character 4 of 5 is U+1F511'],
])('rejects a key that no header can hold: %j', (key, problem) => {
  const [found] = discover({ OPENAI_API_KEY: key });
  expect(found).toMatchObject({
    apiKey: null,
    keyProblem: `OPENAI_API_KEY contains a key that can't be sent: ${problem}; copy the key again`,
  });
  const setup = { settings: { providers: {} }, providers: discover({ OPENAI_API_KEY: key }) };
  expect(() => resolveMainModel(setup, USER)).toThrow(
    new UsageError(`no model named: ${found?.keyProblem}`),
  );
});

test('an invalid key affects only its own provider', () => {
  const env = { ANTHROPIC_API_KEY: '“k”', OPENAI_API_KEY: 'sk-1' };
  const setup = { settings: { providers: {} }, providers: discover(env) };
  expect(resolveMainModel(setup, USER).provider).toBe('openai');
});

test('a wrong URL names its setting', () => {
  expect(() => discover({ OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'localhost' })).toThrow(
    new UsageError('OPENAI_BASE_URL must be a URL such as https://host/v1, but is "localhost"'),
  );
  expect(() => discover({}, { x: { baseUrl: 'https://u:p@h/v1' } })).toThrow(
    'models.providers.x.base_url must not hold a user name or password',
  );
});

describe('[models.providers]', () => {
  const only = (name: string, own: ProviderSettings, env: Environment = {}) =>
    discover(env, { [name]: own })[0];

  test('a provider without its key is unusable and names the variable', () => {
    const found = only('mine', { baseUrl: 'https://m.example/v1', apiKeyEnv: 'MINE_KEY' });
    expect(found).toMatchObject({ apiKey: null, missingKey: 'MINE_KEY' });
    expect(only('anthropic', {})).toMatchObject({ missingKey: 'ANTHROPIC_API_KEY' });
  });

  test("a vendor's key goes to the vendor alone", () => {
    const env = { OPENAI_API_KEY: 'o' };
    const own = { baseUrl: 'https://m.example/v1', kind: 'openai' } as const;
    expect(only('mine', own, env)).toMatchObject({ apiKey: null, tiers: {} });
    expect(only('openai', own, env)).toMatchObject({ apiKey: 'o' });
    expect(only('mine', { kind: 'openai' }, env)).toMatchObject({ apiKey: 'o' });
  });

  test.each([
    ['vllm', 'VLLM_API_KEY', 'http://127.0.0.1:8000'],
    ['litellm', 'LITELLM_API_KEY', 'http://127.0.0.1:4000'],
    ['lmstudio', 'LM_API_TOKEN', 'http://127.0.0.1:1234'],
  ] as const)("a local server's key goes to its usual address: %s", (kind, variable, usual) => {
    const env = { [variable]: 'k' };
    const keyAt = (name: string, baseUrl?: string) =>
      only(name, { kind, ...(baseUrl !== undefined && { baseUrl }) }, env)?.apiKey;
    expect(keyAt('mine')).toBe('k');
    expect(keyAt('mine', `${usual}/v1`)).toBe('k');
    expect(keyAt('mine', usual.replace('127.0.0.1', 'localhost'))).toBe('k');
    expect(keyAt(kind, 'http://gpu.lan:1/v1')).toBe('k');
    expect(keyAt('mine', usual.replace('127.0.0.1', '127.0.0.3'))).toBe(null);
    expect(keyAt('mine', 'https://gate.example/v1')).toBe(null);
  });

  test("a local server's key goes to the address in its variable", () => {
    const env = { LITELLM_API_KEY: 'k', LITELLM_PROXY_API_BASE: 'https://gate.example' };
    const own = { kind: 'litellm', baseUrl: 'https://gate.example/v1' } as const;
    expect(only('mine', own, env)?.apiKey).toBe('k');
    expect(only('mine', { ...own, baseUrl: 'http://127.0.0.1:4000' }, env)?.apiKey).toBe(null);
  });

  test('the kind follows from the name or the URL if it is not configured', () => {
    const kinds = [
      only('ollama', {}),
      only('mine', { baseUrl: 'https://api.anthropic.com' }),
      only('kimi', { baseUrl: 'https://api.kimi.example/anthropic' }),
      only('mine', { baseUrl: 'https://openrouter.ai/api/v1' }),
      only('mine', { baseUrl: 'https://m.example/v1', kind: 'openai-responses' }),
    ].map((found) => [found?.protocol, found?.baseUrl]);
    expect(kinds).toEqual([
      ['openai-chat', 'http://127.0.0.1:11434/v1'],
      ['anthropic', 'https://api.anthropic.com/v1'],
      ['anthropic', 'https://api.kimi.example/anthropic/v1'],
      ['openai-chat', 'https://openrouter.ai/api/v1'],
      ['openai-responses', 'https://m.example/v1'],
    ]);
  });

  test('rejects invalid settings', () => {
    expect(() => only('mine', {})).toThrow('models.providers.mine needs base_url');
    expect(() => only('a b', {})).toThrow(
      'the name of a provider must begin with a letter or digit',
    );
    expect(() => only('offline', {})).toThrow('the name "offline" is reserved');
  });

  test('a configured provider has priority over the same name in the environment', () => {
    const env = { ANTHROPIC_API_KEY: 'k' };
    const found = discover(env, { anthropic: { baseUrl: 'https://gate.example' } });
    expect(found.map(({ name, source }) => [name, source])).toEqual([
      ['anthropic', 'models.providers.anthropic'],
    ]);
  });
});

test.each([
  ['claude-sonnet-5', undefined, 'anthropic', 'https://api.anthropic.com/v1'],
  ['gemini-3.8-flash', undefined, 'google', 'https://generativelanguage.googleapis.com/v1beta'],
  ['gpt-6-sol', undefined, 'openai-responses', 'https://api.openai.com/v1'],
  ['anything', undefined, 'openai-responses', 'https://api.openai.com/v1'],
  ['deepseek-chat', 'https://api.deepseek.com', 'openai-chat', 'https://api.deepseek.com'],
  ['claude-x', 'https://gate.example/v1', 'openai-chat', 'https://gate.example/v1'],
])('LLM_MODEL_ID=%s at %s', (id, url, protocol, baseUrl) => {
  const env = { LLM_MODEL_ID: id, LLM_API_KEY: 'k', LLM_BASE_URL: url };
  expect(discover(env)[0]).toMatchObject({
    name: 'llm',
    protocol,
    baseUrl,
    apiKey: 'k',
    tiers: { balanced: id },
  });
});

test('LLM_MODEL_ID without its key is reported', () => {
  expect(discover({ LLM_MODEL_ID: 'x' })[0]).toMatchObject({ missingKey: 'LLM_API_KEY' });
  const local = discover({ LLM_MODEL_ID: 'x', LLM_BASE_URL: 'http://127.0.0.1:8080/v1' })[0];
  expect(local?.missingKey).toBeUndefined();
});

test.each([
  ['localhost', 'http://localhost:11434/v1'],
  ['127.0.0.1:8000', 'http://127.0.0.1:8000/v1'],
  ['0.0.0.0', 'http://127.0.0.1:11434/v1'],
  ['0.0.0.0:9999', 'http://127.0.0.1:9999/v1'],
  ['http://0.0.0.0:11434', 'http://127.0.0.1:11434/v1'],
  [':5000', 'http://127.0.0.1:5000/v1'],
  ['::', 'http://127.0.0.1:11434/v1'],
  ['::1', 'http://[::1]:11434/v1'],
  ['[::1]:80', 'http://[::1]/v1'],
  ['box.lan', 'http://box.lan:11434/v1'],
  ['box.lan:80', 'http://box.lan/v1'],
  ['http://box.lan', 'http://box.lan/v1'],
  ['https://ollama.example/', 'https://ollama.example/v1'],
  ['https://ollama.example:8443/base/', 'https://ollama.example:8443/base/v1'],
  ['http://box.lan:11434/api', 'http://box.lan:11434/v1'],
  ['http://box.lan:11434/api/chat', 'http://box.lan:11434/v1'],
  ['http://box.lan:11434/v1/chat/completions', 'http://box.lan:11434/v1'],
  ['"box.lan"', 'http://box.lan:11434/v1'],
])('OLLAMA_HOST=%s', (host, url) => {
  expect(parseOllamaHost(host).href).toBe(url);
});

test.each([
  ['http://localhost:1', true],
  ['http://api.localhost', true],
  ['http://127.9.9.9', true],
  ['http://10.1.2.3', true],
  ['http://172.16.0.1', true],
  ['http://172.32.0.1', false],
  ['http://192.168.1.1', true],
  ['http://169.254.1.1', true],
  ['http://[::1]', true],
  ['http://[fd00::1]', true],
  ['http://[fe80::1]', true],
  ['http://[2001:db8::1]', false],
  ['http://box.local', true],
  ['https://api.openai.com', false],
  ['https://10.example.com', false],
  ['http://litellm:4000', true],
])('%s is private: %s', (url, expected) => {
  expect(isPrivateHost(url)).toBe(expected);
});

describe('variables that name a model incompletely', () => {
  test.each([
    [{}, []],
    [{ LLM_MODEL_ID: 'm', LLM_API_KEY: 'secret' }, []],
    [{ LLM_API_KEY: '  ' }, []],
    [
      { LLM_API_KEY: 'secret' },
      ['LLM_API_KEY has no effect: LLM_MODEL_ID is not set. Set it to the id of the model.'],
    ],
    [
      { LIGHT_LLM_BASE_URL: 'http://127.0.0.1:1', LIGHT_LLM_API_KEY: 'secret', LLM_MODEL_ID: 'm' },
      [
        'LIGHT_LLM_API_KEY and LIGHT_LLM_BASE_URL have no effect: LIGHT_LLM_MODEL_ID is not set. Set it to the id of the model.',
      ],
    ],
  ])('%j', (env, expected) => {
    expect(describeUnusedVariables(env)).toEqual(expected);
  });
});
