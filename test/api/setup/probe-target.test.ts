import { describe, expect, it } from 'vitest';
import {
  findProbeTarget,
  type ProbeSources,
  type ProbeWish,
} from '../../../src/api/setup/probe-target.ts';
import type { ProviderSettings } from '../../../src/model/settings/model-settings.ts';
import type { StoredAccount } from '../../../src/protocol/api-key.ts';
import type { Environment } from '../../../src/sys/env.ts';

function find(
  wish: Partial<ProbeWish> & Pick<ProbeWish, 'provider'>,
  providers: Readonly<Record<string, ProviderSettings>> = {},
  environment: Environment = {},
  accounts: readonly StoredAccount[] = [],
) {
  const sources: ProbeSources = { settings: { providers }, environment, accounts };
  return findProbeTarget({ model: null, apiKeyEnv: null, ...wish }, sources);
}

/** The name of the target, and the protocols and addresses that are tried. */
function summary(found: ReturnType<typeof find>) {
  const { name, isNew, target } = found;
  return {
    name,
    isNew,
    candidates: target.candidates.map(({ protocol, baseUrl }) => `${protocol} ${baseUrl}`),
  };
}

describe('a URL', () => {
  it('is tried in three protocols', () => {
    expect(summary(find({ provider: 'localhost:8080' }))).toEqual({
      name: 'local',
      isNew: true,
      candidates: [
        'openai-chat http://localhost:8080/v1',
        'openai-responses http://localhost:8080/v1',
        'anthropic http://localhost:8080/v1',
      ],
    });
  });

  it('with an endpoint is tried first in the protocol of that', () => {
    const { candidates } = summary(find({ provider: 'https://llm.acme.example/v1/messages' }));
    expect(candidates).toEqual([
      'anthropic https://llm.acme.example/v1',
      'openai-chat https://llm.acme.example/v1',
      'openai-responses https://llm.acme.example/v1',
    ]);
  });

  it.each([
    ['https://openrouter.ai/api/v1', 'openrouter', ['openai-chat https://openrouter.ai/api/v1']],
    ['https://api.x.ai', 'xai', ['openai-responses https://api.x.ai/v1']],
    ['http://gpu-box:11434', 'ollama', ['openai-chat http://gpu-box:11434/v1']],
    ['http://127.0.0.1:1234/v1', 'lmstudio', ['openai-chat http://127.0.0.1:1234/v1']],
  ])('of a known provider is that provider: %s', (provider, name, candidates) => {
    expect(summary(find({ provider }))).toEqual({ name, isNew: true, candidates });
  });

  it.each([
    ['https://api.acme.example/v1', 'acme'],
    ['https://llm.corp.internal:8443/v1', 'corp'],
    ['http://gpu7/v1', 'gpu7'],
    ['http://192.168.1.5:8000', 'local'],
    ['http://127.0.0.3:1234/v1', 'local'],
    ['https://8.8.8.8/v1', 'server'],
    ['https://openai.internal/v1', 'server'],
    ['https://offline.example/v1', 'server'],
    ['https://my-resource.openai.azure.com', 'azure'],
  ])('gets a name: %s', (provider, name) => {
    expect(find({ provider }).name).toBe(name);
  });

  it('gets another name if its own is taken', () => {
    const taken = { local: { baseUrl: 'http://localhost:1/v1' } };
    expect(find({ provider: 'http://localhost:8080/v1' }, taken).name).toBe('local-8080');
    const both = { ...taken, 'local-8080': { baseUrl: 'http://localhost:2/v1' } };
    expect(find({ provider: 'http://localhost:8080/v1' }, both).name).toBe('local-8080-2');
  });

  it('that is configured is the configured provider', () => {
    const configured = { mine: { baseUrl: 'http://localhost:8080/v1/', apiKeyEnv: 'K' } };
    const found = find({ provider: 'http://localhost:8080/v1' }, configured, { K: 'key-0123456' });
    expect(found).toMatchObject({ name: 'mine', isNew: false, configured: configured.mine });
    expect(found.target.candidates).toHaveLength(1);
    expect(found.target.candidates[0].apiKey).toBe('key-0123456');
  });

  it('gets the key in the variable that is named, and no other key', () => {
    const environment = { ACME_KEY: 'key-0123456', OPENAI_API_KEY: 'sk-other-0123456' };
    const url = 'https://llm.acme.example/v1';
    const keys = (apiKeyEnv: string | null) =>
      find({ provider: url, apiKeyEnv }, {}, environment).target.candidates.map(
        ({ apiKey }) => apiKey,
      );
    expect(keys('ACME_KEY')).toEqual(['key-0123456', 'key-0123456', 'key-0123456']);
    expect(keys(null)).toEqual([null, null, null]);
  });

  it('gets no key because of its port or of a name that fits', () => {
    const environment = { LM_API_TOKEN: 'lm-0123456', OLLAMA_API_KEY: 'ollama-0123456' };
    const accounts: readonly StoredAccount[] = ['local', 'ollama', 'lmstudio', 'acme'].map(
      (provider) => ({ provider, account: 'default', key: `of-${provider}` }),
    );
    const keys = (provider: string) =>
      find({ provider }, {}, environment, accounts).target.candidates.map(({ apiKey }) => apiKey);
    expect(keys('http://127.0.0.3:1234/v1')).toEqual([null, null, null]);
    expect(keys('http://127.0.0.3:11434')).toEqual([null]);
    expect(keys('http://127.0.0.3:8080')).toEqual([null, null, null]);
    expect(keys('https://llm.acme.example/v1')).toEqual([null, null, null]);
    expect(keys('http://127.0.0.1:1234/v1')).toEqual(['lm-0123456']);
    expect(find({ provider: 'http://h:8080' }, {}, {}, accounts).name).toBe('h');
    expect(find({ provider: 'http://127.0.0.1:8080' }, {}, {}, accounts).name).toBe('local-8080');
  });

  it('that is signed in is the provider of the account', () => {
    const account = { provider: 'corp', account: 'default', key: 'of-corp' };
    const accounts = [{ ...account, baseUrl: 'https://llm.corp.example/v1' }];
    const found = find({ provider: 'https://llm.corp.example/v1/' }, {}, {}, accounts);
    expect(found).toMatchObject({ name: 'corp', isNew: false, configured: null });
    expect(found.target.candidates.map(({ apiKey }) => apiKey)).toEqual(['of-corp']);
  });

  it.each([
    ['http://me:secret@host/v1', '--provider must not hold a user name or password'],
    [
      'ftp://me:secret@host/v1',
      '--provider must be a URL such as https://host/v1, but its value is not',
    ],
    [
      'https://host/v1?api_key=abc',
      '--provider must not hold a key ("api_key"); put it into a variable and name that with --api-key-env',
    ],
    [
      'https://host/v1?key=abc',
      '--provider must not hold a key ("key"); put it into a variable and name that with --api-key-env',
    ],
    ['https://', '--provider must be a URL such as https://host/v1, but is "https://"'],
  ])('is refused: %s', (provider, message) => {
    expect(() => find({ provider })).toThrow(message);
  });

  it('keeps a query without a key', () => {
    const provider = 'https://acme.example/v1?api-version=2026-01-01';
    expect(find({ provider }).target.candidates[0].query).toBe('api-version=2026-01-01');
  });
});

describe('a name', () => {
  it.each([
    ['of a known provider', 'OpenRouter', {}, { OPENROUTER_API_KEY: 'sk-or-0123456789' }],
    [
      'of a configured one',
      'openrouter',
      { openrouter: {} },
      { OPENROUTER_API_KEY: 'sk-or-0123456789' },
    ],
  ] as const)('%s', (_, provider, providers, environment) => {
    const found = find({ provider }, providers, environment);
    expect(found).toMatchObject({ name: 'openrouter', isNew: false });
    expect(found.target.candidates[0]).toMatchObject({
      baseUrl: 'https://openrouter.ai/api/v1',
      apiKey: 'sk-or-0123456789',
    });
  });

  it('of a known provider without a key tells which variable is missing', () => {
    expect(find({ provider: 'groq' }).target.candidates[0].missingKey).toBe('GROQ_API_KEY');
  });

  it('of the variables LLM_*', () => {
    const environment = { LLM_MODEL_ID: 'm', LLM_BASE_URL: 'http://localhost:8080/v1' };
    expect(summary(find({ provider: 'llm' }, {}, environment))).toEqual({
      name: 'llm',
      isNew: false,
      candidates: ['openai-chat http://localhost:8080/v1'],
    });
  });

  it('with another variable for the key', () => {
    const configured = { acme: { baseUrl: 'http://h/v1', apiKeyCommand: 'pass show acme' } };
    const found = find({ provider: 'acme', apiKeyEnv: 'K' }, configured, { K: 'key-0123456' });
    expect(found.target.candidates[0]).toMatchObject({ apiKey: 'key-0123456', keyFrom: 'K' });
    expect(found.keyVariable).toBe('K');
  });

  it('that nobody knows', () => {
    expect(() => find({ provider: 'opnrouter' })).toThrow(
      /^--provider "opnrouter" is neither a provider nor a URL such as http:\/\/localhost:8080\/v1; providers, nearest first: openrouter, /,
    );
  });

  it.each([
    ['openrouter/a/b', 'a/b'],
    ['a/b', 'a/b'],
    ['Groq/x', 'Groq/x'],
  ])('and a model with or without the provider before it: %s', (model, id) => {
    expect(find({ provider: 'openrouter', model }).target.model).toBe(id);
  });
});
