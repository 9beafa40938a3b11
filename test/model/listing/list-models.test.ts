import { describe, expect, it, test } from 'vitest';
import { unknownModel, type ListedModel } from '../../../src/protocol/listed-model.ts';
import { createListedFinder } from '../../../src/model/listing/find-listed.ts';
import { listProviderModels } from '../../../src/model/listing/list-models.ts';
import {
  hashAccount,
  readStoredList,
  toStoredJson,
  type StoredList,
} from '../../../src/model/listing/stored-list.ts';
import type { ConfiguredProvider } from '../../../src/model/providers/configured-provider.ts';
import { discoverProviders } from '../../../src/model/providers/providers.ts';
import { createModelChooser } from '../../../src/model/selection/model-chooser.ts';
import type { HttpFetch } from '../../../src/sys/http/http-types.ts';

const NOW = Date.parse('2026-11-27T12:00:00Z');
const HOUR = 3_600_000;
const clock = { now: () => NOW, monotonic: () => NOW };

function configure(baseUrl: string, key = 'key-1'): ConfiguredProvider {
  const providers = { mine: { kind: 'openai-compatible', baseUrl, apiKeyEnv: 'KEY' } } as const;
  const [provider] = discoverProviders({ providers }, { KEY: key });
  return provider!;
}

const PUBLIC = configure('https://models.example/v1');
const LOCAL = configure('http://127.0.0.1:9/v1');

function stored(
  provider: ConfiguredProvider,
  ageMs: number,
  models: readonly ListedModel[] = [unknownModel('stored')],
): StoredList {
  const account = hashAccount(provider);
  return { baseUrl: provider.baseUrl, account, askedAt: NOW - ageMs, models, isCut: false };
}

/** A server that answers every request with a list, or with nothing but a failure. */
function server(ids: readonly string[] | null) {
  const asked: string[] = [];
  const fetch: HttpFetch = async (address) => {
    asked.push(String(address));
    if (ids === null) throw new TypeError('fetch failed', { cause: new Error('no route') });
    const { headers, status, statusText, ok, body } = Response.json(ids);
    const reader = body!.getReader();
    const read = async () => (await reader.read()).value ?? null;
    const pipe = { read, cancel: () => reader.cancel() };
    const text = () => Promise.reject(new Error('not used'));
    return { headers, status, statusText, ok, body: pipe, text, json: text };
  };
  return { fetch, asked };
}

describe('the models of a provider', () => {
  const NEW = { models: [unknownModel('new')], askedAt: NOW, isCut: false, problem: null };
  const OLD = { models: [unknownModel('stored')], isCut: false };

  it.each([
    ['less than a day old', PUBLIC, 23 * HOUR, false, false],
    ['a day old', PUBLIC, 24 * HOUR, false, true],
    ['from the future', PUBLIC, -HOUR, false, true],
    ['less than a day old, but to be asked for again', PUBLIC, HOUR, true, true],
    ['of a server on this machine', LOCAL, HOUR, false, true],
  ])('are asked for if the stored list is %s', async (_, provider, age, isRefresh, isAsked) => {
    const { fetch, asked } = server(['new']);
    const list = stored(provider, age);
    const request = { fetch, clock, isRefresh, stored: [list] };
    const { newList, ...found } = await listProviderModels(provider, request);
    expect(asked.length > 0).toBe(isAsked);
    expect(found).toEqual(isAsked ? NEW : { ...OLD, askedAt: list.askedAt, problem: null });
    expect(newList).toEqual(isAsked ? { ...list, askedAt: NOW, models: NEW.models } : undefined);
  });

  it('are those of the last list, however old, with the reason why there is no newer one', async () => {
    const { fetch } = server(null);
    const list = stored(PUBLIC, 900 * HOUR);
    const request = { fetch, clock, isRefresh: false, stored: [list] };
    const problem = 'no connection: no route';
    expect(await listProviderModels(PUBLIC, request)).toEqual({
      ...OLD,
      askedAt: list.askedAt,
      problem,
    });
  });

  it('are those that the configuration names if there was never a list', async () => {
    const { fetch } = server(null);
    const provider = { ...PUBLIC, models: ['a', 'b'], tiers: { fast: 'b', balanced: 'c' } };
    const request = { fetch, clock, isRefresh: true, stored: [] };
    expect(await listProviderModels(provider, request)).toEqual({
      models: [unknownModel('a'), unknownModel('b'), unknownModel('c')],
      askedAt: null,
      isCut: false,
      problem: 'no connection: no route',
    });
  });

  it('are not asked for without a key', async () => {
    const { fetch, asked } = server(['new']);
    const provider = { ...PUBLIC, apiKey: null, missingKey: 'KEY' };
    const request = { fetch, clock, isRefresh: true, stored: [] };
    const problem = 'it needs a key in KEY';
    expect(await listProviderModels(provider, request)).toMatchObject({ models: [], problem });
    expect(asked).toEqual([]);
  });
});

describe('a stored list', () => {
  it('belongs to one account, of which it holds no key', () => {
    const other = configure('https://models.example/v1', 'key-2');
    expect(hashAccount(PUBLIC)).toMatch(/^[0-9a-f]{8}$/);
    expect(hashAccount(other)).not.toBe(hashAccount(PUBLIC));
    expect(hashAccount({ ...PUBLIC, query: 'tenant=2' })).not.toBe(hashAccount(PUBLIC));
    const keySource = { kind: 'keychain', provider: 'mine', account: 'work' } as const;
    const late = { ...PUBLIC, keySource };
    expect(hashAccount({ ...late, apiKey: 'replaced' })).toBe(hashAccount(late));
    expect(JSON.stringify(toStoredJson(stored(PUBLIC, 0)))).not.toContain('key-1');
  });

  it('is read as it was written', () => {
    const full: ListedModel = {
      id: 'a',
      contextWindow: 1000,
      outputLimit: 100,
      price: { input: 1, output: 2.5, cacheRead: 0, cacheWrite: 1 },
      chat: true,
      tools: false,
      images: true,
      pdf: false,
      reasoning: true,
      efforts: ['low', 'high'],
      loaded: false,
    };
    const list = { ...stored(PUBLIC, HOUR, [full, unknownModel('b')]), isCut: true };
    expect(readStoredList(JSON.parse(JSON.stringify(toStoredJson(list))))).toEqual(list);
  });

  it.each([
    [null],
    [{}],
    [{ baseUrl: 'x', account: 'y', askedAt: 'never', models: [] }],
    [{ baseUrl: 'x', account: 'y', askedAt: '2026-01-01T00:00:00Z', models: {} }],
  ])('is not %j', (value) => {
    expect(readStoredList(value)).toBe(undefined);
  });

  it('with wrong facts has none of them', () => {
    const models = [
      { id: 'a\u001B', contextWindow: -1, price: { input: 1 }, tools: 'yes', efforts: [5] },
      { id: 7 },
      'b',
    ];
    const value = { ...toStoredJson(stored(PUBLIC, 0)), models };
    expect(readStoredList(value)?.models).toEqual([unknownModel('a')]);
  });
});

describe('the engine', () => {
  const FACTS = {
    ...unknownModel('nobody-knows-it'),
    contextWindow: 50_000,
    outputLimit: 100_000,
    price: { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 1 },
    images: true,
  };

  function choose(provider: ConfiguredProvider, lists: readonly StoredList[] | Error) {
    let reads = 0;
    const notices: string[] = [];
    const all = () => {
      reads += 1;
      if (lists instanceof Error) throw lists;
      return lists;
    };
    const onNotice = (line: string) => void notices.push(line);
    const findListed = createListedFinder({ all }, { clock, onNotice });
    const setup = { settings: { providers: {} }, providers: [provider] };
    const chooser = createModelChooser(setup, { allowOverride: true, findListed });
    const details = (id: string) => chooser.details({ provider: 'mine', id, chain: [] });
    return { chooser, details, notices, reads: () => reads };
  }

  it('knows of a model what nothing but the list states', async () => {
    const { details, chooser, reads } = choose(PUBLIC, [stored(PUBLIC, 900 * HOUR, [FACTS])]);
    const model = { provider: 'mine', id: FACTS.id, chain: [] };
    // The start needs none of it.
    expect(chooser.outputLimit(model)).toBe(null);
    expect(reads()).toBe(0);
    const found = {
      contextWindow: 50_000,
      maxOutput: 32_000,
      price: { ...FACTS.price, source: 'the list of mine', asOf: '2026-10-21' },
    };
    expect(await details(FACTS.id)).toEqual(found);
    expect(await details('other')).toEqual({ contextWindow: null, maxOutput: null, price: null });
    expect(reads()).toBe(1);
    const png = { type: 'image/png', bytes: 10 } as const;
    expect((await chooser.attachments(model))?.refusal(png)).toBe(null);
    const other = await chooser.attachments({ ...model, id: 'other' });
    expect(other?.refusal(png)).toBe('mine/other accepts no images');
  });

  it('prefers the configuration and the catalogue, and reads no list if they know everything', async () => {
    const provider = { ...PUBLIC, baseUrl: 'https://openrouter.ai/api/v1' };
    const listed = { ...FACTS, id: 'openai/gpt-5' };
    const { details } = choose(provider, [stored(provider, 0, [listed])]);
    expect(await details('openai/gpt-5')).toMatchObject({
      contextWindow: 400_000,
      maxOutput: 32_000,
      price: { source: expect.stringContaining('genai-prices') },
    });
    const vendor = { ...PUBLIC, protocol: 'anthropic', vendor: 'anthropic' } as const;
    const known = choose(vendor, []);
    await known.details('claude-haiku-4-5');
    expect(known.reads()).toBe(0);
  });

  it('knows the window of a local model from what its server has just stated', async () => {
    const provider = {
      ...LOCAL,
      listed: [{ ...unknownModel('qwen:latest'), contextWindow: 4096 }],
    };
    const { details, reads } = choose(provider, []);
    expect((await details('qwen')).contextWindow).toBe(4096);
    expect(reads()).toBe(0);
  });

  it('does not believe an old list of a local server', async () => {
    const day = choose(LOCAL, [stored(LOCAL, 25 * HOUR, [FACTS])]);
    expect((await day.details(FACTS.id)).contextWindow).toBe(null);
    const hour = choose(LOCAL, [stored(LOCAL, HOUR, [FACTS])]);
    expect((await hour.details(FACTS.id)).contextWindow).toBe(50_000);
  });

  it('continues without lists that cannot be read', async () => {
    const { details, notices } = choose(PUBLIC, new Error('not yours'));
    expect((await details(FACTS.id)).contextWindow).toBe(null);
    expect(notices).toEqual(['no stored list of models is used: not yours']);
  });
});

test('providers are asked at the same time', async () => {
  const { fetch, asked } = server(['new']);
  const request = { fetch, clock, isRefresh: true, stored: [] };
  await Promise.all([PUBLIC, LOCAL].map((one) => listProviderModels(one, request)));
  expect(asked.slice(0, 2)).toEqual([
    'https://models.example/v1/models',
    'http://127.0.0.1:9/v1/models',
  ]);
});
