import * as fc from 'fast-check';
import {
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
  mkdirSync,
  chmodSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { appendToConfigFile, findFragmentProblems } from '../../src/config/append-config.ts';
import { readConfig } from '../../src/config/load.ts';
import { formatProviderFragment, type ProviderFragment } from '../../src/config/provider-toml.ts';
import { ADJUSTMENT_NAMES } from '../../src/model/settings/adjustment-names.ts';
import { ATTACHMENT_KINDS, PROVIDER_KINDS } from '../../src/model/settings/model-settings.ts';
import { makePlace, write } from './support.ts';

const FRAGMENT: ProviderFragment = {
  name: 'acme',
  provider: {
    baseUrl: 'https://llm.acme.example/v1',
    kind: 'openai-compatible',
    apiKeyEnv: 'ACME_KEY',
    omit: ['stream_options'],
  },
  modelId: 'org/model:7b',
  model: { contextWindow: 32_768, outputLimit: 8192, attachments: ['image'] },
};
const TEXT = `[models.providers.acme]
base_url = "https://llm.acme.example/v1"
kind = "openai-compatible"
api_key_env = "ACME_KEY"
omit = ["stream_options"]

[models.catalogue."acme/org/model:7b"]
context_window = 32768
output_limit = 8192
attachments = ["image"]
`;

/** The settings that the reader of the configuration finds in a file. */
async function readBack(text: string) {
  const { config, problems } = await readConfig(makePlace({ user: text }).inputs());
  expect(problems).toEqual([]);
  const plain = <Settings extends object>(map: ReadonlyMap<string, Settings>) =>
    new Map([...map].map(([name, settings]) => [name, { ...settings, source: undefined }]));
  return { providers: plain(config.models.providers), catalogue: plain(config.models.catalogue) };
}

describe('the configuration of a provider', () => {
  it('is formatted as TOML', () => {
    expect(formatProviderFragment(FRAGMENT)).toBe(TEXT);
    expect(formatProviderFragment({ ...FRAGMENT, provider: null, model: null })).toBe('');
  });

  it('is what the reader of the configuration reads back, whatever the names', async () => {
    const bounded = (max: number) => fc.integer({ min: 256, max });
    const fragments = fc.record({
      name: fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,20}$/),
      provider: fc.record({
        baseUrl: fc.webUrl(),
        kind: fc.constantFrom(...PROVIDER_KINDS),
        apiKeyEnv: fc.stringMatching(/^[A-Z_]{1,20}$/),
        omit: fc.subarray([...ADJUSTMENT_NAMES]),
      }),
      modelId: fc.string({ minLength: 1, maxLength: 30, unit: 'binary' }),
      model: fc.record({
        contextWindow: bounded(1_000_000),
        outputLimit: bounded(100_000),
        attachments: fc.subarray([...ATTACHMENT_KINDS]),
      }),
    });
    await fc.assert(
      fc.asyncProperty(fragments, async (fragment) => {
        const text = formatProviderFragment(fragment);
        const problems = await findFragmentProblems(text);
        // The reader accepts no id with control characters, or with a blank at its start.
        if (problems.length > 0) {
          // oxlint-disable-next-line no-control-regex -- these are the characters
          expect(fragment.modelId).toMatch(/^\s|[\u0000-\u001f\u007f-\u009f]|[\ud800-\udfff]/);
          return;
        }
        expect(await readBack(text)).toEqual({
          providers: new Map([[fragment.name, fragment.provider]]),
          catalogue: new Map([[`${fragment.name}/${fragment.modelId}`, fragment.model]]),
        });
      }),
      { numRuns: 200 },
    );
  });
});

describe('appending to the configuration file', () => {
  it('creates the file for the user alone', async () => {
    const { userFile } = makePlace();
    await appendToConfigFile(userFile, FRAGMENT);
    expect(readFileSync(userFile, 'utf8')).toBe(TEXT);
    expect(statSync(userFile).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(userFile)).mode & 0o777).toBe(0o700);
    expect(readdirSync(dirname(userFile))).toEqual(['config.toml']);
  });

  it.each(['# mine\n[models]\ndefault = "a/b"\n', '# mine\n[models]\ndefault = "a/b"'])(
    'keeps what the file holds, and its mode: %j',
    async (before) => {
      const { userFile } = makePlace({ user: before });
      chmodSync(userFile, 0o640);
      await appendToConfigFile(userFile, FRAGMENT);
      expect(readFileSync(userFile, 'utf8')).toBe(`${before.trimEnd()}\n\n${TEXT}`);
      expect(statSync(userFile).mode & 0o777).toBe(0o640);
      await readBack(readFileSync(userFile, 'utf8'));
    },
  );

  it('follows a link, as that of a directory of settings under version control', async () => {
    const { root, userFile } = makePlace();
    const target = join(root, 'dotfiles', 'muster.toml');
    write(target, '# mine\n');
    mkdirSync(dirname(userFile), { recursive: true });
    symlinkSync(target, userFile);
    await appendToConfigFile(userFile, FRAGMENT);
    expect(readFileSync(target, 'utf8')).toBe(`# mine\n\n${TEXT}`);
  });

  it.each([
    [
      'the provider',
      '[models.providers.acme]\nkind = "openai"\n',
      /config\.toml:1: \[models\.providers\.acme\] is there already; nothing was written/,
    ],
    [
      'the model',
      '[models.catalogue."acme/org/model:7b"]\n',
      /\[models\.catalogue\.acme\/org\/model:7b\] is there already/,
    ],
    [
      'an inline table',
      '[models]\nproviders = { other = { kind = "openai" } }\n',
      /cannot be appended to it: add them by hand\. Nothing was written/,
    ],
    ['another mistake', '[models]\nfst = "x"\n', /correct it first: .*:2: unknown key "fst"/],
    ['no TOML', '[models\n', /correct it first: .*not valid TOML/],
  ])('changes nothing in a file with %s', async (_, before, expected) => {
    const { userFile } = makePlace({ user: before });
    await expect(appendToConfigFile(userFile, FRAGMENT)).rejects.toThrow(expected);
    expect(readFileSync(userFile, 'utf8')).toBe(before);
    expect(readdirSync(dirname(userFile))).toEqual(['config.toml']);
  });

  it('changes nothing that is no regular file', async () => {
    const { userFile } = makePlace();
    mkdirSync(userFile, { recursive: true });
    await expect(appendToConfigFile(userFile, FRAGMENT)).rejects.toThrow(/not a regular file/);
    writeFileSync(join(userFile, 'still-there'), '');
  });
});
