import { describe, expect, it } from 'vitest';
import { chooseSearch } from '../../../src/api/setup/web.ts';
import type { ConfiguredProvider } from '../../../src/model/providers/configured-provider.ts';

const CONFIG = { search: 'auto', searxngUrl: null } as const;
const provider = (parts: Partial<ConfiguredProvider>) => parts as ConfiguredProvider;
const ANTHROPIC = provider({ vendor: 'anthropic', protocol: 'anthropic' });
const COMPATIBLE = provider({ vendor: null, protocol: 'openai-chat' });

describe('the search of a session', () => {
  it.each([
    ['nothing', {}, undefined, { kind: 'none' }],
    ['a compatible provider', {}, COMPATIBLE, { kind: 'none' }],
    ['a provider that searches', {}, ANTHROPIC, { kind: 'provider' }],
    [
      'a key, which comes before the provider',
      { TAVILY_API_KEY: 't-1' },
      ANTHROPIC,
      {
        kind: 'service',
        configured: {
          service: 'tavily',
          access: { baseUrl: 'https://api.tavily.com', key: 't-1' },
        },
      },
    ],
    [
      'an address',
      { SEARXNG_URL: 'http://localhost:8888/' },
      undefined,
      {
        kind: 'service',
        configured: {
          service: 'searxng',
          access: { baseUrl: 'http://localhost:8888', key: '' },
        },
      },
    ],
    ['a blank key', { BRAVE_API_KEY: ' ' }, undefined, { kind: 'none' }],
  ])('follows from %s', (_, env, by, expected) => {
    expect(chooseSearch({ config: CONFIG, env, provider: by })).toMatchObject(expected);
  });

  it('is off when the configuration says so', () => {
    const env = { TAVILY_API_KEY: 't-1' };
    const config = { ...CONFIG, search: 'off' } as const;
    expect(chooseSearch({ config, env, provider: ANTHROPIC })).toMatchObject({ kind: 'none' });
  });

  it.each([
    ['brave', 'web.search = "brave" needs its key or BRAVE_API_KEY.'],
    ['searxng', 'web.search = "searxng" needs its address in web.searxng_url or SEARXNG_URL.'],
    ['provider', 'web.search = "provider": the provider of the model cannot search the web.'],
  ] as const)('is an error if %s is chosen and cannot be used', (search, message) => {
    const setup = { config: { ...CONFIG, search }, env: {}, provider: COMPATIBLE };
    expect(() => chooseSearch(setup)).toThrow(message);
  });

  it('refuses an address that is none', () => {
    const config = { search: 'searxng', searxngUrl: 'localhost' } as const;
    expect(() => chooseSearch({ config, env: {}, provider: undefined })).toThrow(
      'web.searxng_url is not the address of a server',
    );
  });
});
