import { describe, expect, test } from 'vitest';
import { loadKnownIds } from '../../../src/model/catalogue/catalogue.ts';
import { MAIN_AGENT } from '../../../src/engine/task/main-agent.ts';
import { createModelChooser } from '../../../src/model/selection/model-chooser.ts';
import {
  toModelId,
  isDisplayName,
  splitModelNames,
} from '../../../src/model/selection/resolve-model.ts';
import { discoverProviders } from '../../../src/model/providers/providers.ts';
import type { ResolvedModel } from '../../../src/protocol/model.ts';
import type { Environment } from '../../../src/sys/env.ts';

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
