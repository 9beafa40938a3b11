import { describe, expect, it } from 'vitest';
import {
  findSessionModel,
  listSessionModels,
} from '../../../src/api/session/session-model-lists.ts';
import { openModelLists } from '../../../src/api/setup/model-lists.ts';
import { MusterError } from '../../../src/base/errors.ts';
import { hashAccount } from '../../../src/model/listing/stored-list.ts';
import { discoverProviders } from '../../../src/model/providers/providers.ts';
import { unknownModel } from '../../../src/protocol/listed-model.ts';
import type { ResolvedModel } from '../../../src/protocol/model.ts';
import { tempDirectory } from '../../sys/temp.ts';

/** A response as the port for HTTP requests returns it. */
function answer(text: string) {
  const pieces = [new TextEncoder().encode(text)];
  const body = {
    read: () => Promise.resolve(pieces.shift() ?? null),
    cancel: () => Promise.resolve(),
  };
  const headers = new Headers({ 'content-type': 'application/json' });
  return { status: 200, statusText: 'OK', ok: true, headers, body };
}

/** A provider whose list was stored a moment ago unless said otherwise, and that cannot be asked. */
function world(ids: readonly string[], { isCut = false, isStored = true } = {}) {
  const directory = tempDirectory();
  const settings = {
    kind: 'openai-compatible',
    baseUrl: 'https://models.example/v1',
    apiKeyEnv: 'KEY',
  } as const;
  const providers = discoverProviders({ providers: { mine: settings } }, { KEY: 'key' });
  const [provider] = providers;
  if (provider === undefined) throw new Error('no provider');
  const { baseUrl } = provider;
  const models = ids.map((id) => unknownModel(id));
  const list = { baseUrl, account: hashAccount(provider), askedAt: Date.now(), models, isCut };
  if (isStored) openModelLists(directory).save([list]);
  const fetch = () => Promise.reject(new TypeError('nothing is asked'));
  const keys = { read: () => Promise.reject(new TypeError('no key is read')) };
  return { setup: { settings: {}, providers }, directory, fetch, keys } as never;
}

function resolve(name: string): ResolvedModel {
  if (name === 'fast') return { provider: 'mine', id: 'unlisted', tier: 'fast', chain: [] };
  const [provider = '', id] = name.split('/');
  if (id === undefined) {
    throw new MusterError('INVALID_PARAM', `no configured provider has a model "${name}"`);
  }
  return { provider, id, chain: [] };
}

const IDS = ['large-2', 'large-10', 'mini-20260101', 'free-one:free', 'text-embedding-3'];

it('the stored models are listed, sorted, without asking anybody', async () => {
  const lists = await listSessionModels(world(['b-10', 'b-9', 'a']), { isAsking: false });
  expect(
    lists.map(({ provider, models, isComplete }) => [
      provider,
      models.map(({ id }) => id),
      isComplete,
    ]),
  ).toEqual([['mine', ['a', 'b-9', 'b-10'], true]]);
});

it.each([
  ['mine/new-3', 'mine/new-3'],
  ['mine/nonsense', null],
])('%s, which no stored list has, is looked for at its provider', async (name, found) => {
  const deps = {
    ...(world([], { isStored: false }) as object),
    fetch: () => Promise.resolve(answer(JSON.stringify({ data: [{ id: 'new-3' }] }))),
  };
  const finding = findSessionModel(name, deps as never, resolve);
  if (found === null) await expect(finding).rejects.toThrow('no provider has a model');
  else expect(await finding).toBe(found);
});

describe('a name', () => {
  it.each([
    ['mine/large-2', 'mine/large-2'],
    ['large-10', 'mine/large-10'],
    ['mine/LARGE-2', 'mine/LARGE-2'],
    ['mine/mini-latest', 'mine/mini-latest'],
    ['mine/mini', 'mine/mini'],
    ['mine/free-one', 'mine/free-one'],
    ['fast', 'fast'],
  ])('%s means %s', async (name, full) => {
    expect(await findSessionModel(name, world(IDS), resolve)).toBe(full);
  });

  it.each(['mine/larg-2', 'larg-2'])('%s is refused with the nearest names', async (name) => {
    await expect(findSessionModel(name, world(IDS), resolve)).rejects.toThrow(
      `no provider has a model "${name}"; the nearest: mine/large-2, mine/large-10, mine/`,
    );
  });

  it('of a provider whose list is not complete is accepted', async () => {
    expect(await findSessionModel('mine/other', world(IDS, { isCut: true }), resolve)).toBe(
      'mine/other',
    );
  });
});
