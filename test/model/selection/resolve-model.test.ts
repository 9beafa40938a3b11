import { describe, expect, test } from 'vitest';
import { MusterError, UsageError } from '../../../src/base/errors.ts';
import { MAIN_AGENT } from '../../../src/engine/task/main-agent.ts';
import { createModelChooser } from '../../../src/model/selection/model-chooser.ts';
import type { ModelSettings } from '../../../src/model/settings/model-settings.ts';
import { discoverProviders } from '../../../src/model/providers/providers.ts';
import type { ModelSetup } from '../../../src/model/selection/choose-model.ts';
import {
  resolveTaskModel,
  resolveMainModel,
  type TaskModelRequest,
  toModelId,
  isDisplayName,
  splitModelNames,
} from '../../../src/model/selection/resolve-model.ts';
import type { ResolvedModel } from '../../../src/protocol/model.ts';
import type { Environment } from '../../../src/sys/env.ts';
import { loadKnownIds } from '../../../src/model/catalogue/catalogue.ts';

function setup(env: Environment, settings: Partial<ModelSettings> = {}): ModelSetup {
  const whole: ModelSettings = { providers: {}, ...settings };
  return { settings: whole, providers: discoverProviders(whole, env) };
}

const USER = { agent: MAIN_AGENT, prompt: 'Where is the parser?' };
const CLAUDE = { ANTHROPIC_API_KEY: 'a' };
const BOTH = { ...CLAUDE, OPENAI_API_KEY: 'o' };
const LLM = { LLM_MODEL_ID: 'big', LLM_API_KEY: 'l', LLM_BASE_URL: 'https://llm.example/v1' };
const LIGHT = {
  LIGHT_LLM_MODEL_ID: 'small',
  LIGHT_LLM_API_KEY: 's',
  LIGHT_LLM_BASE_URL: 'https://light.example/v1',
};
const LOCAL = { OLLAMA_HOST: 'localhost' };

function named({ provider, id }: ResolvedModel): string {
  return `${provider}/${id}`;
}

describe('the main model', () => {
  test.each<[string, Environment, Partial<ModelSettings>, string]>([
    ['nothing at all', {}, {}, 'offline/offline'],
    ['a key', CLAUDE, {}, 'anthropic/claude-sonnet-5'],
    ['two keys', BOTH, {}, 'anthropic/claude-sonnet-5'],
    ['LLM_* before a key', { ...BOTH, ...LLM }, {}, 'llm/big'],
    [
      'a light model alone is not the main one',
      { ...CLAUDE, ...LIGHT },
      {},
      'anthropic/claude-sonnet-5',
    ],
    ['a light model and nothing else', LIGHT, {}, 'light_llm/small'],
    ['the default', BOTH, { default: 'openai/gpt-6-astra' }, 'openai/gpt-6-astra'],
    [
      'the flag before the default',
      BOTH,
      { flag: 'powerful', default: 'x' },
      'anthropic/claude-opus-5-5',
    ],
    ['a tier of another word', BOTH, { flag: 'Haiku' }, 'anthropic/claude-haiku-4-5'],
    ['a bare id', BOTH, { flag: 'gpt-5.5' }, 'openai/gpt-5.5'],
    ['offline by name', BOTH, { flag: 'offline' }, 'offline/offline'],
    ['balanced from the configuration', BOTH, { balanced: 'gpt-6-sol' }, 'openai/gpt-6-sol'],
    ['an id with a slash in it', LOCAL, { flag: 'ollama/hf.co/x/y' }, 'ollama/hf.co/x/y'],
    ['the only server has any model', LOCAL, { flag: 'qwen3:8b' }, 'ollama/qwen3:8b'],
    [
      'a configured provider without models is not a default',
      CLAUDE,
      OWN(),
      'anthropic/claude-sonnet-5',
    ],
  ])('%s', (_what, env, settings, expected) => {
    expect(named(resolveMainModel(setup(env, settings), USER))).toBe(expected);
  });

  test('has a chain that says how it was chosen', () => {
    expect(resolveMainModel(setup(CLAUDE), USER)).toEqual({
      provider: 'anthropic',
      id: 'claude-sonnet-5',
      tier: 'balanced',
      chain: ['no model named: balanced', 'balanced: anthropic (ANTHROPIC_API_KEY)'],
    });
    expect(resolveMainModel(setup(LLM, { flag: 'opus' }), USER)).toEqual({
      provider: 'llm',
      id: 'big',
      tier: 'balanced',
      chain: ['--model: opus', 'powerful: not set', 'balanced: llm (LLM_MODEL_ID)'],
    });
  });

  test.each<[string, Environment, Partial<ModelSettings>, string]>([
    [
      'no key',
      {},
      { flag: 'anthropic/claude-sonnet-5' },
      'set ANTHROPIC_API_KEY in the environment',
    ],
    ['no key for a bare id', CLAUDE, { flag: 'gpt-5' }, '"gpt-5" needs a key: set OPENAI_API_KEY'],
    [
      'either key',
      {},
      { default: 'google/x' },
      'models.default: "google/x" needs a key: set GEMINI_API_KEY or GOOGLE_API_KEY',
    ],
    ['a key of its own', {}, { flag: 'mine/x', ...OWN() }, 'set MINE_KEY in the environment'],
    [
      'a model that no provider has',
      BOTH,
      { flag: 'fasst' },
      '--model: no configured provider has a model "fasst"; valid are inherit, auto, fast, balanced, powerful, anthropic/claude-haiku-4-5, openai/gpt-6-luna, offline',
    ],
    [
      'no provider has it',
      {},
      { flag: 'fasst' },
      'valid are inherit, auto, fast, balanced, powerful, offline',
    ],
    [
      'a provider in place of its model',
      BOTH,
      { flag: 'OpenAI' },
      '--model: "OpenAI" is a provider: name one of its models, as in openai/MODEL; "muster models openai" lists them',
    ],
    [
      'a provider without a key in place of its model',
      BOTH,
      { flag: 'openrouter' },
      '"openrouter" needs a key: set OPENROUTER_API_KEY in the environment, or run "muster login openrouter"',
    ],
    [
      'a tier that names a tier',
      BOTH,
      { fast: 'balanced', flag: 'fast' },
      'models.fast: no configured provider has a model "balanced"',
    ],
    [
      'a server without a known model',
      LOCAL,
      {},
      'none of its models is known: name a model with --model ollama/MODEL',
    ],
    [
      'a provider that was retired',
      { ...CLAUDE, GITHUB_TOKEN: 'ghp_1' },
      { flag: 'github-models/openai/gpt-4.1' },
      '--model: "github-models/openai/gpt-4.1": GitHub Models was retired on 2026-07-30; choose another provider',
    ],
    ['LLM_* without its key', { LLM_MODEL_ID: 'x' }, {}, '"llm/x" needs a key: set LLM_API_KEY'],
  ])('an error: %s', (_what, env, settings, message) => {
    const attempt = (): ResolvedModel => resolveMainModel(setup(env, settings), USER);
    expect(attempt).toThrow(UsageError);
    expect(attempt).toThrow(message);
  });

  test('an id of two providers is ambiguous', () => {
    const settings = { flag: 'gpt-5', providers: { other: { kind: 'openai' } as const } };
    expect(() => resolveMainModel(setup(BOTH, settings), USER)).toThrow(
      '"gpt-5" is served by more than one provider: choose one of other/gpt-5, openai/gpt-5',
    );
  });
});

function OWN(): Partial<ModelSettings> {
  return {
    providers: { mine: { baseUrl: 'https://mine.example/v1', apiKeyEnv: 'MINE_KEY' } },
  };
}

const PARENT: ResolvedModel = { provider: 'anthropic', id: 'claude-opus-5-5', chain: ['root'] };

function wish(overrides: Partial<TaskModelRequest>): TaskModelRequest {
  return {
    call: undefined,
    definition: [],
    agent: { ...MAIN_AGENT, name: 'Explore' },
    prompt: 'Look',
    parent: PARENT,
    allowOverride: true,
    ...overrides,
  };
}

function forTask(
  env: Environment,
  overrides: Partial<TaskModelRequest>,
  settings: Partial<ModelSettings> = {},
): ResolvedModel {
  const model = resolveTaskModel(setup(env, settings), wish(overrides));
  if (model instanceof MusterError) throw model;
  return model;
}

describe('a task', () => {
  test.each<[string, Environment, Partial<TaskModelRequest>, Partial<ModelSettings>, string]>([
    ['no settings', BOTH, {}, {}, 'anthropic/claude-opus-5-5'],
    ['inherit', BOTH, { definition: ['inherit'] }, {}, 'anthropic/claude-opus-5-5'],
    ['a tier', BOTH, { definition: ['fast'] }, {}, 'anthropic/claude-haiku-4-5'],
    [
      'the call before the definition',
      BOTH,
      { definition: ['fast'], call: 'sonnet' },
      {},
      'anthropic/claude-sonnet-5',
    ],
    ['a light model', { ...LLM, ...LIGHT }, { definition: ['fast'] }, {}, 'light_llm/small'],
    [
      'a light model next to a key',
      { ...CLAUDE, ...LIGHT },
      { definition: ['fast'] },
      {},
      'light_llm/small',
    ],
    ['no light model', { ...LLM, ...CLAUDE }, { definition: ['fast'] }, {}, 'llm/big'],
    [
      'the tiers follow a named main model',
      { ...LLM, ...LIGHT, ...CLAUDE },
      { definition: ['fast'] },
      { flag: 'anthropic/claude-opus-5' },
      'anthropic/claude-haiku-4-5',
    ],
    [
      'the tiers of a main model with none',
      { ...CLAUDE, ...LOCAL },
      { definition: ['fast'] },
      { flag: 'ollama/qwen3' },
      'ollama/qwen3',
    ],
    [
      'an offline session uses no other model',
      BOTH,
      { definition: ['fast'] },
      { flag: 'offline' },
      'offline/offline',
    ],
    [
      'a configured tier',
      BOTH,
      { definition: ['fast'] },
      { fast: 'openai/gpt-6-luna' },
      'openai/gpt-6-luna',
    ],
    ['auto', BOTH, { definition: ['auto'] }, {}, 'anthropic/claude-haiku-4-5'],
  ])('%s', (_what, env, overrides, settings, expected) => {
    expect(named(forTask(env, overrides, settings))).toBe(expected);
  });

  test('has a chain for a fallback and for auto', () => {
    expect(forTask(LLM, { definition: ['fast'] }).chain).toEqual([
      'Explore: fast',
      'fast: not set',
      'balanced: llm (LLM_MODEL_ID)',
    ]);
    expect(forTask(CLAUDE, { call: 'auto' }).chain).toEqual([
      'call: auto',
      'auto: fast, since Explore looks things up',
      'fast: anthropic (ANTHROPIC_API_KEY)',
    ]);
  });

  test('for a definition with an unknown model the model of the parent is used, with a warning', () => {
    expect(forTask(CLAUDE, { definition: ['openai/gpt-6-sol'] })).toEqual({
      provider: 'anthropic',
      id: 'claude-opus-5-5',
      chain: ['Explore: openai/gpt-6-sol: not usable', 'parent: anthropic/claude-opus-5-5'],
      warning:
        'Explore asks for the model "openai/gpt-6-sol", which is not usable ("openai/gpt-6-sol" needs a key: set OPENAI_API_KEY in the environment, or run "muster login openai"); its parent\'s is used',
    });
  });

  test.each([
    ['openai/gpt-6-sol', 'model: "openai/gpt-6-sol" needs a key: set OPENAI_API_KEY'],
    ['nonsense', 'model: no configured provider has a model "nonsense"; valid are inherit'],
  ])('for a call with the unknown model %s the error is INVALID_PARAM', (call, message) => {
    const error = resolveTaskModel(setup(CLAUDE), wish({ call }));
    expect(error).toBeInstanceOf(MusterError);
    expect(error).toMatchObject({ code: 'INVALID_PARAM', retryable: false });
    expect((error as MusterError).message).toContain(message);
  });

  test('cannot override the model of the definition if overriding is off', () => {
    const chooser = createModelChooser(setup(CLAUDE), { allowOverride: false });
    expect(chooser.forTask(wish({ call: 'opus', definition: ['fast'] }))).toMatchObject({
      code: 'INVALID_PARAM',
      message:
        "model: this agent's model is fixed to anthropic/claude-haiku-4-5 (task_tool.allow_model_override is false)",
    });
    expect(chooser.forTask(wish({ call: 'haiku', definition: ['fast'] }))).toMatchObject({
      id: 'claude-haiku-4-5',
    });
  });
});

test.each([
  ['sonnet', ['sonnet']],
  ['GPT-4.1 | \'gpt-5\' | "Claude Sonnet 4.5"', ['GPT-4.1', 'gpt-5', 'Claude Sonnet 4.5']],
  ['gpt-5, gpt-4.1', ['gpt-5', 'gpt-4.1']],
  ['Claude Sonnet 4.5 (copilot)', ['Claude Sonnet 4.5 (copilot)']],
  [' | ,', []],
])('%s names %j', (wish, models) => {
  expect(splitModelNames(wish)).toEqual(models);
});

test.each([
  ['Claude Sonnet 4.5 (copilot)', 'claude-sonnet-4-5'],
  ['Claude Opus 4.6 (fast mode) (Preview)', 'claude-opus-4-6'],
  ['claude-opus-4.7', 'claude-opus-4-7'],
  ['GPT-5.3-Codex', 'gpt-5.3-codex'],
  ['GPT-4.1 (copilot)', 'gpt-4.1'],
  ['Gemini 2.5 Pro', 'gemini-2.5-pro'],
])('%s is converted to %s', (name, id) => {
  expect([isDisplayName(name), toModelId(name)]).toEqual([true, id]);
});

test.each([
  'inherit',
  'Sonnet',
  'Opus',
  'gpt-5',
  'claude-sonnet-4-5',
  'gemini-2.5-pro',
  'qwen3:8b',
  'openai/GPT-5',
  'hf.co/Qwen/Qwen3-8B',
])('%s is not a display name', (wish) => {
  expect(isDisplayName(wish)).toBe(false);
});

test.each([
  ['anthropic', 'claude-sonnet-4-5', 'claude-sonnet-4-5'],
  ['anthropic', 'claude-sonnet-4', 'claude-sonnet-4-0'],
  ['anthropic', 'claude-sonnet-4-9', null],
  ['anthropic', 'claude-opus', null],
  ['openai', 'gpt-5', 'gpt-5'],
  ['openai', 'gpt-5-codex', 'gpt-5-codex'],
  ['openai', 'gpt-5.2-codex', 'gpt-5.2-codex'],
  ['openai', 'gpt-99', null],
  ['google', 'gemini-2.5-pro', 'gemini-2.5-pro'],
] as const)('the catalogue of %s knows %s as %s', async (vendor, name, id) => {
  expect((await loadKnownIds())(vendor, name)).toBe(id);
});

describe('a definition with the name', () => {
  const CLAUDE = { ANTHROPIC_API_KEY: 'a' };
  const BOTH = { ...CLAUDE, OPENAI_API_KEY: 'o' };
  const PARENT: ResolvedModel = { provider: 'anthropic', id: 'claude-opus-5-5', chain: ['x'] };

  async function chosen(env: Environment, definition: readonly string[]): Promise<ResolvedModel> {
    const settings = { providers: {} };
    const chooser = createModelChooser(
      { settings, providers: discoverProviders(settings, env) },
      { allowOverride: true },
    );
    await chooser.prepare(definition);
    const model = chooser.forTask({
      call: undefined,
      definition,
      agent: { ...MAIN_AGENT, name: 'tester' },
      prompt: 'x',
      parent: PARENT,
    });
    if (model instanceof Error) throw model;
    return model;
  }

  test.each<[string, Environment, readonly string[], string]>([
    [
      'the name that an editor shows',
      CLAUDE,
      ['Claude Sonnet 4.5 (copilot)'],
      'anthropic/claude-sonnet-4-5',
    ],
    ['another', BOTH, ['GPT-5'], 'openai/gpt-5'],
    ['a tier', BOTH, ['sonnet'], 'anthropic/claude-sonnet-5'],
    ['a tier in capitals', BOTH, ['Opus'], 'anthropic/claude-opus-5-5'],
    ['an id that nobody knows', BOTH, ['claude-next-9'], 'anthropic/claude-next-9'],
    [
      'several, the first of them unavailable here',
      CLAUDE,
      ['GPT-5 | claude-haiku-4-5'],
      'anthropic/claude-haiku-4-5',
    ],
    ['a list', CLAUDE, ['gpt-5', 'Claude Opus 4.6'], 'anthropic/claude-opus-4-6'],
    ['a list with inherit at its end', CLAUDE, ['gpt-5', 'inherit'], 'anthropic/claude-opus-5-5'],
    [
      'capitals, if one server has any model',
      { OLLAMA_HOST: 'localhost' },
      ['Qwen3:8B'],
      'ollama/Qwen3:8B',
    ],
  ])('%s gets it without a warning', async (_, env, definition, expected) => {
    const { provider, id, warning } = await chosen(env, definition);
    expect([`${provider}/${id}`, warning]).toEqual([expected, undefined]);
  });

  test.each<[string, Environment, readonly string[], string]>([
    [
      'an unavailable model',
      CLAUDE,
      ["GPT-4.1 | 'gpt-5'"],
      'tester asks for the model "GPT-4.1", "gpt-5", which is not usable ("gpt-4.1" needs a key: set OPENAI_API_KEY in the environment, or run "muster login openai"); its parent\'s is used',
    ],
    [
      'a version that does not exist',
      CLAUDE,
      ['Claude Sonnet 4.9'],
      'tester asks for the model "Claude Sonnet 4.9", which is not usable (no model of anthropic is known by this name); its parent\'s is used',
    ],
    [
      'words',
      { OLLAMA_HOST: 'localhost' },
      ['The Best One'],
      'tester asks for the model "The Best One", which is not usable ("The Best One" is neither a model id nor the name of a known model); its parent\'s is used',
    ],
    [
      'nothing',
      CLAUDE,
      [' | '],
      'tester asks for the model " | ", which is not usable (it names none); its parent\'s is used',
    ],
  ])("%s gets its parent's, and a warning", async (_, env, definition, warning) => {
    expect(await chosen(env, definition)).toMatchObject({
      provider: PARENT.provider,
      id: PARENT.id,
      warning,
    });
  });

  test('skipped names are in the chain', async () => {
    expect((await chosen(CLAUDE, ['gpt-5', 'Claude Opus 4.6'])).chain).toEqual([
      'tester: gpt-5: not usable',
      'tester: Claude Opus 4.6',
      '"Claude Opus 4.6" is claude-opus-4-6',
      'anthropic/claude-opus-4-6',
    ]);
  });
});
