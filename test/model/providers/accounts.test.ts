import { describe, expect, it } from 'vitest';
import { discoverProviders } from '../../../src/model/providers/providers.ts';
import { findSignInProvider } from '../../../src/model/providers/sign-in-provider.ts';
import type { ProviderSettings } from '../../../src/model/settings/model-settings.ts';
import type { StoredAccount } from '../../../src/protocol/api-key.ts';
import type { Environment } from '../../../src/sys/env.ts';

const GROQ: StoredAccount = { provider: 'groq', account: 'default', key: 'of-the-account' };
const WORK: StoredAccount = { ...GROQ, account: 'work', key: null };
const CORP: StoredAccount = {
  provider: 'corp',
  account: 'default',
  key: 'of-corp',
  baseUrl: 'https://llm.corp.example/v1',
};
/** An account at a proxy of a company, under the name of a known provider. */
const PROXIED: StoredAccount = { ...GROQ, baseUrl: 'https://proxy.corp.example/groq' };
/** An account of a provider in the configuration. */
const MINE: StoredAccount = {
  provider: 'mine',
  account: 'default',
  key: 'of-mine',
  origin: 'https://mine.example',
};
const CHAIN = { kind: 'keychain', provider: 'groq', account: 'work' };
const AT_GROQ = 'https://api.groq.com/openai/v1';

interface Case {
  readonly title: string;
  readonly accounts: readonly StoredAccount[];
  readonly env?: Environment;
  readonly providers?: Readonly<Record<string, ProviderSettings>>;
  /** The providers, as far as they are stated. */
  readonly expected: readonly object[];
}

const CASES: readonly Case[] = [
  {
    title: 'an account of a known provider is enough',
    accounts: [GROQ],
    expected: [
      {
        name: 'groq',
        baseUrl: AT_GROQ,
        apiKey: 'of-the-account',
        keyFrom: 'the account "default" of groq',
        source: 'the account "default" of groq',
      },
    ],
  },
  {
    title: 'a key in the keychain is read later',
    accounts: [WORK],
    expected: [{ name: 'groq', baseUrl: AT_GROQ, apiKey: null, keySource: CHAIN }],
  },
  {
    title: 'the environment comes before accounts',
    accounts: [GROQ],
    env: { GROQ_API_KEY: 'of-the-environment' },
    expected: [{ name: 'groq', apiKey: 'of-the-environment', keyFrom: 'GROQ_API_KEY' }],
  },
  {
    title: 'the default account comes before others, and the configuration chooses another one',
    accounts: [WORK, GROQ],
    expected: [{ name: 'groq', apiKey: 'of-the-account' }],
  },
  {
    title: 'the account in the configuration comes before the environment',
    accounts: [WORK, GROQ],
    env: { GROQ_API_KEY: 'of-the-environment' },
    providers: { groq: { account: 'work' } },
    expected: [{ name: 'groq', apiKey: null, keySource: CHAIN }],
  },
  {
    title: 'two names use two accounts of a provider',
    accounts: [WORK, GROQ],
    providers: { mine: { kind: 'groq', account: 'work' } },
    expected: [
      { name: 'mine', baseUrl: AT_GROQ, keySource: CHAIN },
      { name: 'groq', baseUrl: AT_GROQ, apiKey: 'of-the-account' },
    ],
  },
  {
    title: 'an account that does not exist is named',
    accounts: [GROQ],
    providers: { groq: { account: 'private' } },
    expected: [
      {
        apiKey: null,
        keyProblem: 'groq has no account "private": run "muster login groq --account private"',
      },
    ],
  },
  {
    title: 'a key that the configuration names comes before accounts',
    accounts: [GROQ],
    env: { MINE: 'of-mine' },
    providers: { groq: { apiKeyEnv: 'MINE' } },
    expected: [{ name: 'groq', apiKey: 'of-mine' }],
  },
  {
    title: 'an account with a server of its own is a provider',
    accounts: [CORP],
    expected: [
      {
        name: 'corp',
        protocol: 'openai-chat',
        baseUrl: 'https://llm.corp.example/v1',
        apiKey: 'of-corp',
        source: 'muster login',
        vendor: null,
      },
    ],
  },
  {
    title: 'the key for a proxy is sent to the proxy',
    accounts: [PROXIED],
    expected: [
      { name: 'groq', baseUrl: 'https://proxy.corp.example/groq', apiKey: 'of-the-account' },
    ],
  },
  {
    title: 'the key of the environment is not sent to the proxy of an account',
    accounts: [PROXIED],
    env: { GROQ_API_KEY: 'of-the-environment' },
    expected: [{ name: 'groq', baseUrl: AT_GROQ, apiKey: 'of-the-environment' }],
  },
  {
    title: 'the key for a proxy is not sent to another server under the same name',
    accounts: [PROXIED],
    providers: { groq: { baseUrl: AT_GROQ } },
    expected: [
      {
        name: 'groq',
        baseUrl: AT_GROQ,
        apiKey: null,
        keyProblem:
          'the account "default" of groq is for https://proxy.corp.example/groq, and is not sent to https://api.groq.com: sign in again with "muster login groq"',
      },
    ],
  },
  {
    title: 'an account that the configuration names is not sent to another server either',
    accounts: [CORP],
    providers: { corp: { baseUrl: 'https://evil.example/v1', account: 'default' } },
    expected: [
      {
        apiKey: null,
        keyProblem:
          'the account "default" of corp is for https://llm.corp.example/v1, and is not sent to https://evil.example: sign in again with "muster login corp"',
      },
    ],
  },
  {
    title: 'an account of a configured provider is used for its server',
    accounts: [MINE],
    providers: { mine: { baseUrl: 'https://mine.example/v1' } },
    expected: [{ name: 'mine', baseUrl: 'https://mine.example/v1', apiKey: 'of-mine' }],
  },
  {
    title: 'an account of a configured provider is not used after its address has changed',
    accounts: [{ ...MINE, account: 'work' }],
    providers: { mine: { baseUrl: 'https://moved.example/v1' } },
    expected: [
      {
        name: 'mine',
        apiKey: null,
        keyProblem:
          'the account "work" of mine is for https://mine.example, and is not sent to https://moved.example: sign in again with "muster login mine --account work"',
      },
    ],
  },
  {
    title:
      'an account of a configured provider that names no server, of an older version, is not used',
    accounts: [{ provider: 'mine', account: 'default', key: 'of-mine' }],
    providers: { mine: { baseUrl: 'https://mine.example/v1' } },
    expected: [
      {
        name: 'mine',
        apiKey: null,
        keyProblem:
          'the account "default" of mine does not say for which server its key is, and is not sent to https://mine.example: sign in again with "muster login mine"',
      },
    ],
  },
  {
    title: 'of several accounts, the one for the server is used',
    accounts: [MINE, { ...MINE, account: 'work', key: 'of-work', origin: 'https://moved.example' }],
    providers: { mine: { baseUrl: 'https://moved.example/v1' } },
    expected: [{ name: 'mine', apiKey: 'of-work' }],
  },
  {
    title: 'an account of a provider that is configured no longer is left alone',
    accounts: [MINE],
    expected: [],
  },
  {
    title: 'an account of a local server that names no server is not used',
    accounts: [{ provider: 'vllm', account: 'default', key: 'of-vllm' }],
    expected: [
      {
        name: 'vllm',
        apiKey: null,
        keyProblem:
          'the account "default" of vllm does not say for which server its key is, and is not sent to http://127.0.0.1:8000: sign in again with "muster login vllm"',
      },
    ],
  },
  {
    title: 'an account of a local server is only for the address with which it was tried',
    accounts: [
      {
        provider: 'litellm',
        account: 'default',
        key: 'of-litellm',
        origin: 'http://gate.lan:4000',
      },
    ],
    env: { LITELLM_PROXY_API_BASE: 'http://gate.lan:4000' },
    providers: { vllm: {}, other: { kind: 'litellm', baseUrl: 'http://other.lan:4000' } },
    expected: [
      { name: 'vllm', apiKey: null },
      { name: 'other', apiKey: null },
      { name: 'litellm', baseUrl: 'http://gate.lan:4000/v1', apiKey: 'of-litellm' },
    ],
  },
  {
    title:
      'an account for the cloud of Ollama is not sent to a server of the user, which needs no key',
    accounts: [{ provider: 'ollama', account: 'default', key: 'of-the-cloud' }],
    env: { OLLAMA_API_KEY: 'of-the-cloud' },
    providers: {
      ollama: { baseUrl: 'http://gpu.lan:11434' },
      cloud: { kind: 'ollama', baseUrl: 'https://ollama.com' },
    },
    expected: [
      { name: 'ollama', apiKey: null },
      { name: 'cloud', apiKey: 'of-the-cloud' },
    ],
  },
  {
    title: 'the key of a known provider is not sent to a server that only uses its protocol',
    accounts: [{ provider: 'anthropic', account: 'default', key: 'of-anthropic' }],
    providers: { gate: { kind: 'anthropic', baseUrl: 'https://gate.example' } },
    expected: [
      { name: 'gate', apiKey: null },
      { name: 'anthropic', apiKey: 'of-anthropic' },
    ],
  },
];

describe('accounts', () => {
  it.each(CASES)('$title', ({ accounts, env = {}, providers = {}, expected }) => {
    const found = discoverProviders({ providers }, env, accounts);
    expect(found).toEqual(expected.map((each) => expect.objectContaining(each)));
  });

  it('with a damaged address are named', () => {
    expect(() =>
      discoverProviders({ providers: {} }, {}, [{ ...CORP, baseUrl: 'nothing' }]),
    ).toThrow(
      'the base URL of the account "default" of corp must be a URL such as https://host/v1, but is "nothing"',
    );
  });
});

describe('the provider to sign in to', () => {
  it('has the address of the environment and no other key', () => {
    const env = { OPENROUTER_BASE_URL: 'https://gate.example/v1', OPENROUTER_API_KEY: 'other' };
    const account = { provider: 'openrouter', account: 'default', key: 'typed' };
    expect(findSignInProvider(account, { settings: { providers: {} }, env })).toMatchObject({
      baseUrl: 'https://gate.example/v1',
      apiKey: 'typed',
    });
  });

  it('has the settings of the configuration without their key', () => {
    const settings = {
      providers: {
        mine: {
          baseUrl: 'https://mine.example/v1',
          apiKeyCommand: 'pass',
          omit: ['temperature'] as const,
        },
      },
    };
    const account = { provider: 'mine', account: 'work', key: 'typed' };
    expect(findSignInProvider(account, { settings, env: {} })).toMatchObject({
      baseUrl: 'https://mine.example/v1',
      apiKey: 'typed',
      omit: ['temperature'],
    });
  });

  it('sends a token of Anthropic’s own variable not in the header of a typed key', () => {
    const env = { ANTHROPIC_AUTH_TOKEN: 'token' };
    const account = { provider: 'anthropic', account: 'default', key: 'typed' };
    const found = findSignInProvider(account, { settings: { providers: {} }, env });
    expect([found.apiKey, found.keyHeader]).toEqual(['typed', undefined]);
  });

  it('must be the one of the address', () => {
    const account = { provider: 'mine', account: 'default', key: 'typed' };
    const settings = { providers: { mine: { baseUrl: 'https://mine.example/v1' } } };
    const at = (baseUrl: string) => () =>
      findSignInProvider({ ...account, baseUrl }, { settings, env: {} });
    expect(at('https://mine.example/v1')()).toMatchObject({ apiKey: 'typed' });
    expect(at('https://other.example/v1')).toThrow(
      'the account "default" of mine is for https://other.example/v1, and is not sent to https://mine.example, the address in [models.providers.mine]',
    );
    expect(at('https://mine.example/v1?api_key=secret')).toThrow(
      '--base-url must not hold a key ("api_key"); muster login asks for the key',
    );
  });

  it.each([
    ['anthropc', /there is no provider "anthropc"; known, nearest first: anthropic,/],
    ['github-models', /^GitHub Models was retired on 2026-07-30; choose another provider$/],
    ['my', /nearest first: mine,/],
  ])('must be known: %s', (name, message) => {
    const settings = { providers: { mine: { baseUrl: 'https://mine.example/v1' } } };
    const account = { provider: name, account: 'default', key: 'typed' };
    expect(() => findSignInProvider(account, { settings, env: {} })).toThrow(message);
  });
});
