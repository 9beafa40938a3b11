import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it, test } from 'vitest';
import { discoverProviders } from '../../src/model/providers/providers.ts';
import { PRESET_QUIRKS } from '../../src/model/settings/preset-quirks.ts';
import {
  isPreset,
  PRESET_NAMES,
  PRESETS,
  type PresetName,
  type ProtocolName,
  type ProviderPreset,
} from '../../src/model/settings/presets.ts';
import type { ProviderQuirks } from '../../src/model/settings/provider-quirks.ts';
import { EFFORTS, TIERS } from '../../src/protocol/model.ts';
import { WIRES } from '../model/presets/all.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../docs/providers.md'), 'utf8');

const PROTOCOLS: Readonly<Record<ProtocolName, string>> = {
  anthropic: 'Anthropic Messages',
  'openai-responses': 'OpenAI Responses',
  'openai-chat': 'OpenAI Chat Completions',
  google: 'Google generateContent',
  'bedrock-converse': 'Bedrock Converse',
};

function list(names: readonly string[]): string {
  return names.length === 0 ? '-' : names.map((name) => `\`${name}\``).join(', ');
}

function toRow(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function nameRow(name: PresetName): string {
  const { title, protocol, baseUrl, baseUrlKey, token, keys, keyPage }: ProviderPreset =
    PRESETS[name];
  return toRow([
    keyPage === undefined ? title : `[${title}](${keyPage})`,
    `\`${name}\``,
    list(token === undefined ? keys : [token, ...keys]),
    list(baseUrlKey === undefined ? [] : [baseUrlKey]),
    `\`${baseUrl}\``,
    PROTOCOLS[protocol],
  ]);
}

function tierRow(name: PresetName): string {
  const { tiers }: ProviderPreset = PRESETS[name];
  return toRow([
    `\`${name}\``,
    ...TIERS.map((tier) => list(tiers[tier] === undefined ? [] : [tiers[tier]])),
  ]);
}

/** Says what is special about the requests and answers of a provider; empty: nothing is. */
function listDifferences(name: PresetName): readonly string[] {
  const { headers = {}, omit = [] }: ProviderPreset = PRESETS[name];
  const quirks: ProviderQuirks = PRESET_QUIRKS[name] ?? {};
  const { thoughts, cacheMarks, body = {}, bodyWithTools = {}, outputLimit, errors } = quirks;
  const field = thoughts === 'content' ? 'parts of `content`' : `\`${thoughts}\``;
  return [
    ...(omit.length === 0 ? [] : [`\`omit\`: ${list(omit)}`]),
    ...(thoughts === undefined ? [] : [`thoughts go back as ${field}`]),
    ...(cacheMarks === undefined ? [] : ['prompts are marked for the cache']),
    ...(Object.keys(body).length === 0 ? [] : [`adds ${list(Object.keys(body))}`]),
    ...(Object.keys(bodyWithTools).length === 0
      ? []
      : [`adds ${list(Object.keys(bodyWithTools))} to requests with tools`]),
    ...(outputLimit === undefined ? [] : [`limits answers to ${outputLimit} tokens by default`]),
    ...(errors === undefined ? [] : ['some errors have a meaning of their own']),
    ...(Object.keys(headers).length === 0 ? [] : [`headers ${list(Object.keys(headers))}`]),
  ];
}

/** Shows the value that requests an effort. */
function effortText(fields: Readonly<Record<string, unknown>>): string {
  const values = Object.values(fields).flatMap((value) => findValues(value));
  // Anthropic's kind of thinking comes before its effort.
  return values.at(-1) ?? '-';
}

function findValues(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value === 'summarized' ? '' : value].filter(Boolean);
  if (typeof value === 'boolean') return [value ? 'on' : 'off'];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap((inner) => findValues(inner));
}

const TABLES: readonly (readonly string[])[] = [
  PRESET_NAMES.map(nameRow),
  PRESET_NAMES.filter((name) => Object.keys(PRESETS[name].tiers).length > 0).map(tierRow),
  PRESET_NAMES.flatMap((name) => {
    const differences = listDifferences(name);
    return differences.length === 0 ? [] : [toRow([`\`${name}\``, differences.join('; ')])];
  }),
  PRESET_NAMES.flatMap((name) =>
    Object.entries(WIRES[name].efforts).map(([model, values]) =>
      toRow([`\`${name}/${model}\``, ...values.map(effortText)]),
    ),
  ),
];

it.each(TABLES.map((rows) => ({ rows })))('docs/providers.md has the table $rows.0', ({ rows }) => {
  expect(page).toContain(`|\n${rows.join('\n')}\n\n`);
});

it('has a column for each effort', () => {
  expect(page).toContain(toRow(['model', ...EFFORTS]));
});

/** The rows of further addresses: the configuration, and the protocol. */
const ADDRESSES = [
  ...page.matchAll(/^\| [^|]+ \| `([a-z]+)` \| `(https:[^`]+)`(?: \(([^)]+)\))? \| ([^|]+) \|$/gm),
];

test('docs/providers.md has further addresses', () => {
  expect(ADDRESSES.length).toBeGreaterThan(15);
});

test.each(
  ADDRESSES.map(([, name = '', address = '', , protocol = '']) => ({ name, address, protocol })),
)('$address works with the key of $name', ({ name, address, protocol }) => {
  if (!isPreset(name)) throw new Error(`${name} is no provider`);
  const [variable = ''] = PRESETS[name].keys;
  const settings = { providers: { [name]: { baseUrl: address } } };
  const [provider] = discoverProviders(settings, { [variable]: 'secret' });
  expect(provider).toMatchObject({ name, apiKey: 'secret' });
  expect(PROTOCOLS[provider!.protocol]).toBe(protocol);
  const isExact = [address, `${address}/v1`].includes(provider!.baseUrl);
  expect(isExact, provider!.baseUrl).toBe(true);
  const isUsual = provider!.protocol === PRESETS[name].protocol;
  if (isUsual) expect(provider!.quirks).toEqual(PRESET_QUIRKS[name]);
});
