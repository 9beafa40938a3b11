import { describe, expect, it } from 'vitest';
import { createProbeFragment, nextProbeStep } from '../../../src/api/setup/probe-fragment.ts';
import { findProbeTarget } from '../../../src/api/setup/probe-target.ts';
import type { LearnedSettings } from '../../../src/model/adapters/adapter.ts';
import { fail, ok } from '../../../src/protocol/check.ts';
import { unknownModel, type ListedModel } from '../../../src/protocol/listed-model.ts';
import type {
  ModelOverride,
  ProviderSettings,
} from '../../../src/model/settings/model-settings.ts';
import type { Environment } from '../../../src/sys/env.ts';
import type { CatalogueConfig } from '../../../src/config/catalogue.ts';
import { readConfig } from '../../../src/config/load.ts';
import { makePlace } from '../../config/support.ts';

interface Case {
  readonly provider: string;
  readonly apiKeyEnv?: string;
  readonly model?: string;
  readonly learned?: Partial<LearnedSettings>;
  readonly facts?: Partial<ListedModel>;
  readonly seesImages?: boolean;
  readonly providers?: Readonly<Record<string, ProviderSettings>>;
  readonly catalogue?: ModelOverride;
  readonly environment?: Environment;
}

/** The configuration that follows from what a probe has found. */
async function fragmentOf(given: Case) {
  const { model = 'm', environment = {}, providers = {}, apiKeyEnv = null } = given;
  const found = findProbeTarget(
    { provider: given.provider, model: null, apiKeyEnv },
    { settings: { providers }, environment, accounts: [] },
  );
  const [provider] = found.target.candidates;
  const { config } = await readConfig(makePlace().inputs());
  const source = { kind: 'config', where: 'config.toml:1' } as const;
  const catalogue = new Map<string, CatalogueConfig>();
  if (given.catalogue !== undefined) {
    catalogue.set(`${found.name}/${model}`, { ...given.catalogue, source });
  }
  const learned = {
    baseUrl: provider.baseUrl,
    omit: [],
    outputCap: null,
    efforts: new Map(),
    ...given.learned,
  };
  const findings = {
    learned,
    model: { ...unknownModel(model), ...given.facts },
    seesImages: given.seesImages ?? null,
  };
  const report = { provider, model, findings };
  const fragment = await createProbeFragment(found, report, {
    models: { ...config.models, catalogue },
  });
  return { provider: fragment?.provider, model: fragment?.model };
}

describe('the configuration to keep', () => {
  const URL = 'http://localhost:8080';
  it.each<[string, Case, Awaited<ReturnType<typeof fragmentOf>>]>([
    [
      'of a new server',
      { provider: URL },
      { provider: { baseUrl: `${URL}/v1`, kind: 'openai-compatible' }, model: null },
    ],
    [
      'of a new server with everything',
      {
        provider: `${URL}?v=1`,
        apiKeyEnv: 'K',
        learned: { baseUrl: URL, omit: ['strict'], outputCap: 4000 },
        facts: { contextWindow: 65_536, outputLimit: 8192 },
        seesImages: true,
      },
      {
        provider: {
          baseUrl: `${URL}?v=1`,
          kind: 'openai-compatible',
          apiKeyEnv: 'K',
          omit: ['strict'],
        },
        model: { contextWindow: 65_536, outputLimit: 4000, attachments: ['image'] },
      },
    ],
    [
      'of Ollama, which is known by its name',
      { provider: 'http://gpu:11434' },
      { provider: { baseUrl: 'http://gpu:11434/v1' }, model: null },
    ],
    [
      'of a known provider is empty',
      {
        provider: 'https://api.groq.com/openai/v1',
        environment: { GROQ_API_KEY: 'gsk_0123456789' },
      },
      { provider: null, model: null },
    ],
    [
      'of a known provider that refuses something',
      { provider: 'groq', learned: { omit: ['tool_choice'] } },
      { provider: { omit: ['tool_choice'] }, model: null },
    ],
    [
      'of a configured provider is what is new',
      {
        provider: 'acme',
        providers: { acme: { baseUrl: URL, omit: ['strict'] } },
        learned: { baseUrl: URL, omit: ['store'] },
        facts: { contextWindow: 1000 },
        catalogue: { contextWindow: 1000 },
      },
      { provider: { baseUrl: URL, omit: ['strict', 'store'] }, model: null },
    ],
    [
      'of the variables LLM_* is empty',
      { provider: 'llm', environment: { LLM_MODEL_ID: 'm', LLM_BASE_URL: URL } },
      { provider: null, model: null },
    ],
    [
      'that replaces the variables LLM_* is complete',
      {
        provider: 'llm',
        environment: { LLM_MODEL_ID: 'm', LLM_BASE_URL: URL, LLM_API_KEY: 'key-0123456' },
        learned: { omit: ['strict'] },
      },
      {
        provider: {
          kind: 'openai-compatible',
          baseUrl: `${URL}/v1`,
          apiKeyEnv: 'LLM_API_KEY',
          omit: ['strict'],
        },
        model: null,
      },
    ],
    [
      'leaves most of the context window to the conversation',
      { provider: 'groq', facts: { contextWindow: 8192, outputLimit: 8192 } },
      { provider: null, model: { contextWindow: 8192, outputLimit: 2048 } },
    ],
    [
      'has no output limit that is refused',
      { provider: 'groq', facts: { outputLimit: 8192 }, learned: { omit: ['output_limit'] } },
      { provider: { omit: ['output_limit'] }, model: null },
    ],
    [
      'says nothing of images that is known',
      { provider: 'groq', model: 'llava-7b', seesImages: true },
      { provider: null, model: null },
    ],
    [
      'says that a model sees no images, although its family does',
      { provider: 'groq', model: 'llava-7b', seesImages: false },
      { provider: null, model: { attachments: [] } },
    ],
    [
      'has no model with an id that the configuration cannot hold',
      { provider: 'groq', model: 'a\u0007b', facts: { contextWindow: 8192 } },
      { provider: null, model: null },
    ],
  ])('%s', async (_, given, expected) => {
    expect(await fragmentOf(given)).toEqual(expected);
  });
});

describe('the next step', () => {
  const findings = {
    learned: { baseUrl: '', omit: [], outputCap: null, efforts: new Map() },
    model: unknownModel('m'),
    seesImages: null,
  };
  const state = { path: '/c.toml', hasTables: true, isWritten: false };
  const report = { checks: [ok('a', 'b')], model: 'org/m', findings };
  it.each([
    [
      report,
      state,
      'add the configuration to /c.toml (or probe again with --write), then: muster --model acme/org/m -p "…"',
    ],
    [report, { ...state, isWritten: true }, 'muster --model acme/org/m -p "…"'],
    [report, { ...state, hasTables: false }, 'muster --model acme/org/m -p "…"'],
    [
      { ...report, model: "a b'c$" },
      { ...state, hasTables: false },
      String.raw`muster --model 'acme/a b'\''c$' -p "…"`,
    ],
    [{ ...report, checks: [fail('key', 'no key', 'set K')] }, state, 'key: set K'],
    [{ ...report, checks: [fail('key', 'no key', null)] }, state, 'key: no key'],
    [{ ...report, findings: null }, state, 'probe again when requests may be sent'],
  ])('%#', (probed, written, expected) => {
    expect(nextProbeStep('acme', probed, written)).toBe(expected);
  });
});
