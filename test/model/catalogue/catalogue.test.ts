import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import {
  CATALOGUE,
  isOtherVersion,
  isSameModel,
  loadModelDetails,
  UNKNOWN_DETAILS,
  findCacheMinimum,
} from '../../../src/model/catalogue/catalogue.ts';
import { computeCostUsd } from '../../../src/model/catalogue/cost.ts';
import { findSearchFee } from '../../../src/model/catalogue/search-fees.ts';
import { createModelChooser } from '../../../src/model/selection/model-chooser.ts';
import { PRESETS } from '../../../src/model/settings/presets.ts';
import { discoverProviders } from '../../../src/model/providers/providers.ts';
import { NO_USAGE, TIERS } from '../../../src/protocol/model.ts';

const OPENROUTER = {
  protocol: 'openai-chat',
  vendor: null,
  baseUrl: 'https://openrouter.ai/api/v1',
  isPrivate: false,
} as const;
const ANTHROPIC = { ...OPENROUTER, protocol: 'anthropic', vendor: 'anthropic' } as const;
/** What is sent to this protocol for models that are not known, too. */
const UNKNOWN_CLAUDE = { ...UNKNOWN_DETAILS, maxOutput: 32_000 };
const source = { source: `${CATALOGUE.name} ${CATALOGUE.version}`, asOf: CATALOGUE.asOf };

test('the named catalogue version is the installed one', async () => {
  const file = new URL(`../../../node_modules/${CATALOGUE.name}/package.json`, import.meta.url);
  const installed: unknown = JSON.parse(await readFile(file, 'utf8'));
  expect(installed).toMatchObject({ name: CATALOGUE.name, version: CATALOGUE.version });
});

test('finds the details of a known model', async () => {
  expect(await loadModelDetails(ANTHROPIC, 'claude-haiku-4-5-20251001')).toEqual({
    contextWindow: 200_000,
    maxOutput: 32_000,
    price: { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25, search: 0.01, ...source },
    cacheMinimum: 4096,
  });
});

test('finds a price that depends on the length of the prompt', async () => {
  const { price } = await loadModelDetails({ ...OPENROUTER, vendor: 'openai' }, 'gpt-6-sol');
  expect(price).toEqual({
    input: 2,
    output: 10,
    cacheRead: 0.2,
    cacheWrite: 2.5,
    longPrompts: [
      { abovePromptTokens: 272_000, input: 4, output: 15, cacheRead: 0.4, cacheWrite: 5 },
    ],
    search: 0.01,
    ...source,
  });
  const usage = {
    input: 2000,
    output: 1_000_000,
    cacheRead: 260_000,
    cacheWrite: 10_000,
    reasoning: 0,
  };
  expect(computeCostUsd(usage, price)).toBeCloseTo(0.004 + 10 + 0.052 + 0.025);
  expect(computeCostUsd(usage, price, 3)).toBeCloseTo(0.004 + 10 + 0.052 + 0.025 + 0.03);
  expect(computeCostUsd({ ...usage, input: 2001 }, price)).toBeCloseTo(
    0.008_004 + 15 + 0.104 + 0.05,
  );
});

test('finds no price for unknown models, local ones, and newer versions of known ones', async () => {
  expect(await loadModelDetails(ANTHROPIC, 'claude-sonnet-5-5')).toEqual(UNKNOWN_CLAUDE);
  expect(await loadModelDetails(ANTHROPIC, 'nonsense')).toEqual(UNKNOWN_CLAUDE);
  const local = { ...OPENROUTER, baseUrl: 'http://127.0.0.1:11434/v1', isPrivate: true };
  expect(await loadModelDetails(local, 'gpt-6-sol')).toEqual(UNKNOWN_DETAILS);
  const elsewhere = { ...local, baseUrl: 'https://models.example/v1', isPrivate: false };
  expect(await loadModelDetails(elsewhere, 'no-such-model-anywhere')).toEqual(UNKNOWN_DETAILS);
});

test("the user's settings have priority", async () => {
  const mine = { input: 7, output: 8, cacheRead: 7, cacheWrite: 7 };
  expect(
    await loadModelDetails(ANTHROPIC, 'claude-haiku-4-5', { contextWindow: 1000 }),
  ).toMatchObject({
    contextWindow: 1000,
    maxOutput: 32_000,
    price: { input: 1 },
  });
  expect(
    await loadModelDetails(ANTHROPIC, 'claude-haiku-4-5', { outputLimit: 500, price: mine }),
  ).toEqual({
    contextWindow: 200_000,
    maxOutput: 500,
    price: { ...mine, search: 0.01, source: 'config.toml', asOf: null },
    cacheMinimum: 4096,
  });
  const local = { ...OPENROUTER, baseUrl: 'http://127.0.0.1:11434/v1', isPrivate: true };
  expect(await loadModelDetails(local, 'mine', { outputLimit: 500, price: mine })).toEqual({
    contextWindow: null,
    maxOutput: 500,
    price: { ...mine, source: 'config.toml', asOf: null },
  });
});

test('finds other providers by their address', async () => {
  const facts = await loadModelDetails(OPENROUTER, 'openai/gpt-5');
  expect(facts.price).toMatchObject(source);
});

test.each([
  ['claude-sonnet-5-5', 'claude-sonnet-5', true],
  ['gpt-5.4-mini', 'gpt-5.4', true],
  ['claude-sonnet-5-20260101', 'claude-sonnet-5', false],
  ['gpt-5.4-2026-03-05', 'gpt-5.4', false],
  ['gemini-2.0-flash-001', 'gemini-2.0-flash', false],
  ['claude-haiku-4-5-latest', 'claude-haiku-4-5', false],
  ['qwen:free', 'qwen', false],
  ['gpt-5.6', 'gpt-5.6-sol', false],
])('%s is not %s: %s', (id, known, expected) => {
  expect(isOtherVersion(id, known)).toBe(expected);
});

/** Newer than the catalogue: its vendor's best, whose price is not known yet. */
const UNPRICED = new Set(['gemini-4-argon']);

test.each(['anthropic', 'openai', 'google'] as const)(
  'the defaults of %s are known to the provider package and have a price',
  async (vendor) => {
    for (const tier of TIERS) {
      const id = PRESETS[vendor].tiers[tier] ?? '';
      const folder = new URL(`../../../node_modules/@ai-sdk/${vendor}/dist/`, import.meta.url);
      expect(await readFile(new URL('index.js', folder), 'utf8')).toContain(`"${id}"`);
      expect(PRESETS[vendor].ids?.test(id)).toBe(true);
      const { price } = await loadModelDetails({ ...OPENROUTER, vendor }, id);
      expect([id, price === null]).toEqual([id, UNPRICED.has(id)]);
    }
  },
);

test('computes the cost of a request', () => {
  const usage = {
    input: 1_000_000,
    output: 100_000,
    cacheRead: 2_000_000,
    cacheWrite: 400_000,
    reasoning: 50_000,
  };
  const price = { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25, ...source };
  expect(computeCostUsd(usage, price)).toBeCloseTo(1 + 0.5 + 0.2 + 0.5, 10);
  expect(computeCostUsd(usage, null)).toBeNull();
});

test.each([
  ['claude-sonnet-5', 'claude-sonnet-5-20260101', true],
  ['gpt-5.4-2026-03-05', 'gpt-5.4', true],
  ['openai/gpt-5', 'gpt-5-2025-08-07', true],
  ['gpt-5', 'gpt-5', true],
  ['gpt-5', 'gpt-5-mini', false],
  ['gemini-flash-latest', 'gemini-3.8-flash', false],
  ['auto', 'claude-sonnet-5', false],
])('%s and %s are the same model: %j', (a, b, same) => {
  expect(isSameModel(a, b)).toBe(same);
  expect(isSameModel(b, a)).toBe(same);
});

test('an answer of another model than the requested one has the price of that model', async () => {
  const settings = {
    providers: { openai: { apiKeyEnv: 'OPENAI_API_KEY' } },
    catalogue: new Map([
      ['openai/mine', { price: { input: 9, output: 9, cacheRead: 9, cacheWrite: 9 } }],
    ]),
  };
  const providers = discoverProviders(settings, { OPENAI_API_KEY: 'k' });
  const chooser = createModelChooser({ settings, providers }, { allowOverride: true });
  const priceOf = async (id: string, servedBy?: string) =>
    (await chooser.details({ provider: 'openai', id, chain: [] }, servedBy)).price?.input ?? null;
  expect(await priceOf('gpt-6-sol')).toBe(2);
  expect(await priceOf('gpt-6-sol', 'gpt-6-sol-2026-01-01')).toBe(2);
  expect(await priceOf('gpt-5', 'gpt-6-sol')).toBe(2);
  expect(await priceOf('gpt-6-sol', 'whatever the server calls it')).toBe(2);
  expect(await priceOf('mine', 'whatever the server calls it')).toBe(9);
  expect(await priceOf('gpt-6-sol', 'mine')).toBe(9);
  expect(await priceOf('nobody-knows', 'gpt-6-sol')).toBe(2);
  expect(await priceOf('nobody-knows', 'nobody-knows-either')).toBe(null);
});

test('the offline model costs nothing', async () => {
  const chooser = createModelChooser(
    { settings: { providers: {} }, providers: [] },
    { allowOverride: true },
  );
  const facts = await chooser.details({ provider: 'offline', id: 'offline', chain: [] });
  expect(computeCostUsd({ ...NO_USAGE, input: 1e6, output: 1e6 }, facts.price)).toBe(0);
});

test.each([
  ['claude-opus-4-6', 4096],
  ['anthropic/claude-haiku-4.5', 4096],
  ['claude-haiku-4-5-20251001', 4096],
  ['claude-sonnet-4-6', 2048],
  ['claude-3-5-haiku-latest', 2048],
  ['claude-sonnet-4-5', 1024],
  ['claude-opus-4-1', 1024],
  ['gpt-6-sol', 1024],
])('%s caches prefixes of %i or more tokens', (id, tokens) => {
  expect(findCacheMinimum(id)).toBe(tokens);
});

test.each([
  ['anthropic', 'claude-haiku-4-5', 0.01],
  ['openai', 'gpt-5-mini', 0.01],
  ['google', 'gemini-3-flash', 0.014],
  ['google', 'gemini-2.5-flash', undefined],
  [null, 'claude-haiku-4-5', undefined],
] as const)('the fee of a search by %s for %s is %s', (vendor, model, fee) => {
  expect(findSearchFee(vendor, model)).toBe(fee);
});
