import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import {
  accountKey,
  configuredKey,
  findKeyProblem,
  hideKey,
  parseKey,
  type ProviderKey,
} from '../../../src/model/providers/provider-key.ts';
import type { ProviderSettings } from '../../../src/model/settings/model-settings.ts';
import type { StoredAccount } from '../../../src/protocol/api-key.ts';

const TABLE = 'models.providers.x';

describe('the key that settings name', () => {
  const env = { MINE: 'sk-1', QUOTED: ' "sk-2" ', BROKEN: 'sk-\u2019', EMPTY: ' ' };

  it.each<[settings: ProviderSettings, key: ProviderKey | null]>([
    [{}, null],
    [{ baseUrl: 'https://x.example', account: 'work', apiKeyTtlSeconds: 5 }, null],
    [{ apiKeyEnv: 'MINE' }, { apiKey: 'sk-1', keyFrom: 'MINE' }],
    [{ apiKeyEnv: 'QUOTED' }, { apiKey: 'sk-2', keyFrom: 'QUOTED' }],
    [{ apiKeyEnv: 'ABSENT' }, { apiKey: null, missingKey: 'ABSENT' }],
    [{ apiKeyEnv: 'EMPTY' }, { apiKey: null, missingKey: 'EMPTY' }],
    [
      { apiKeyEnv: 'BROKEN' },
      {
        apiKey: null,
        keyFrom: 'BROKEN',
        keyProblem:
          "BROKEN contains a key that can't be sent: its character 4 of 4 is a typographic quote (U+2019); copy the key again",
      },
    ],
    [
      { apiKeyCommand: 'pass show x' },
      {
        apiKey: null,
        keyFrom: `${TABLE}.api_key_command`,
        keySource: {
          kind: 'command',
          command: 'pass show x',
          ttlMs: 300_000,
          setting: `${TABLE}.api_key_command`,
        },
      },
    ],
    [
      { apiKeyCommand: ['op', 'read', 'x'], apiKeyTtlSeconds: 60 },
      {
        apiKey: null,
        keyFrom: `${TABLE}.api_key_command`,
        keySource: {
          kind: 'command',
          command: ['op', 'read', 'x'],
          ttlMs: 60_000,
          setting: `${TABLE}.api_key_command`,
        },
      },
    ],
    [
      { apiKeyFile: '~/key', apiKeyTtlSeconds: 1 },
      {
        apiKey: null,
        keyFrom: `${TABLE}.api_key_file`,
        keySource: {
          kind: 'file',
          path: '~/key',
          ttlMs: 1_000,
          setting: `${TABLE}.api_key_file`,
        },
      },
    ],
  ])('%j', (settings, key) => expect(configuredKey(TABLE, settings, env)).toEqual(key));
});

describe('the key of an account', () => {
  const FILE: StoredAccount = { provider: 'groq', account: 'default', key: 'gsk-1' };
  const WORK: StoredAccount = { provider: 'groq', account: 'work', key: null };

  it.each<[string | null, readonly StoredAccount[], ProviderKey]>([
    [null, [WORK, FILE], { apiKey: 'gsk-1', keyFrom: 'the account "default" of groq' }],
    [
      null,
      [WORK],
      {
        apiKey: null,
        keyFrom: 'the account "work" of groq',
        keySource: { kind: 'keychain', provider: 'groq', account: 'work' },
      },
    ],
    [
      'work',
      [FILE, WORK],
      {
        apiKey: null,
        keyFrom: 'the account "work" of groq',
        keySource: { kind: 'keychain', provider: 'groq', account: 'work' },
      },
    ],
    [
      'private',
      [FILE],
      {
        apiKey: null,
        keyProblem: 'groq has no account "private": run "muster login groq --account private"',
      },
    ],
    [
      null,
      [],
      { apiKey: null, keyProblem: 'groq has no account "default": run "muster login groq"' },
    ],
  ])('%s of %j', (wanted, stored, key) => expect(accountKey('groq', wanted, stored)).toEqual(key));
});

describe('a text of a server about a key', () => {
  const KEY = 'sk-proj-abcdefgh-wxyz';

  it.each([
    [`Incorrect API key provided: ${KEY}.`, 'Incorrect API key provided: [key].'],
    ['Incorrect API key provided: sk-proj-********wxyz.', 'Incorrect API key provided: [key].'],
    ['Received API Key = sk-...wxyz, Key Hash', 'Received API Key = [key], Key Hash'],
    ['key sk-proj-ab… is unknown', 'key [key] is unknown'],
    ['key …wxyz is unknown', 'key [key] is unknown'],
    ['Wait... the model is loading', 'Wait... the model is loading'],
    ['**Bold** and sk-other-***-1234', '**Bold** and sk-other-***-1234'],
    ['No auth credentials found', 'No auth credentials found'],
  ])('%s', (text, shown) => expect(hideKey(text, KEY)).toBe(shown));

  it('stays as it is without a key, and with one that is a common word', () => {
    expect(hideKey(`not ${KEY}`, null)).toBe(`not ${KEY}`);
    expect(hideKey('ollama is down', 'ollama')).toBe('ollama is down');
  });

  it('is hidden if only its beginning is shown', () => {
    const secret = 'sk-right-key-0123456789';
    for (const [text, shown] of [
      ['Incorrect API key: sk-right-key-0123', 'Incorrect API key: [key]'],
      ['"sk-right" and sk-right-key-01, too', '"[key]" and [key], too'],
      ['sk-right-key-other', '[key]other'],
      ['the model sk-right-other', 'the model sk-right-other'],
      ['sk-righ is too short', 'sk-righ is too short'],
    ] as const) {
      expect(hideKey(text, secret)).toBe(shown);
    }
  });

  it('never contains the key', () => {
    const key = fc.stringMatching(/^[A-Za-z0-9_-]{8,40}$/);
    fc.assert(
      fc.property(key, fc.string(), fc.string(), (secret, before, after) => {
        expect(hideKey(before + secret + after, secret)).not.toContain(secret);
      }),
    );
  });
});

test('a key that is read from a text can be sent, or its problem is named', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const key = parseKey(text);
      if (findKeyProblem(key) === null) expect(key).toMatch(/^[\x20-\x7e]*$/);
      else expect(findKeyProblem(key)).not.toContain(key);
    }),
  );
});
