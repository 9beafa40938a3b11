import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/base/errors.ts';
import { createModelChooser } from '../../../src/model/selection/model-chooser.ts';
import type { ModelSetup } from '../../../src/model/selection/choose-model.ts';
import { selectFallbacks, resolveFallbacks } from '../../../src/model/selection/fallbacks.ts';
import type { FallbackList } from '../../../src/model/settings/model-settings.ts';
import { discoverProviders } from '../../../src/model/providers/providers.ts';
import { modelName, type Tier } from '../../../src/protocol/model.ts';

const ENVIRONMENT = { ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'o' };

function setup(fallbacks: readonly FallbackList[]): ModelSetup {
  const settings = { providers: {}, fallbacks };
  return { settings, providers: discoverProviders(settings, ENVIRONMENT) };
}

const general = (...models: readonly string[]): FallbackList => ({
  setting: 'models.fallback',
  tier: null,
  models,
});
const FAST: FallbackList = {
  setting: 'models.fallback_fast',
  tier: 'fast',
  models: ['gpt-6-luna', 'openai/gpt-6-sol'],
};

describe('the fallbacks of a model', () => {
  test.each<readonly [string, string, Tier | undefined, readonly string[]]>([
    [
      'of a tier: its own before the general ones, each once',
      'anthropic/claude-haiku-4-5',
      'fast',
      ['openai/gpt-6-luna', 'openai/gpt-6-sol', 'anthropic/claude-sonnet-5'],
    ],
    [
      'of another tier: the general ones',
      'anthropic/claude-opus-5-5',
      'powerful',
      ['openai/gpt-6-sol', 'anthropic/claude-sonnet-5'],
    ],
    [
      'that is one of them: the others',
      'openai/gpt-6-sol',
      undefined,
      ['anthropic/claude-sonnet-5'],
    ],
  ])('%s', (_, name, tier, expected) => {
    const [provider = '', id = ''] = name.split('/');
    const all = resolveFallbacks(setup([FAST, general('openai/gpt-6-sol', 'balanced')]));
    const model = { provider, id, chain: [], ...(tier === undefined ? {} : { tier }) };
    expect(selectFallbacks(model, all).map(modelName)).toEqual(expected);
  });

  test('records how it was chosen', () => {
    expect(resolveFallbacks(setup([general('balanced')]))).toEqual([
      {
        tier: null,
        model: {
          provider: 'anthropic',
          id: 'claude-sonnet-5',
          tier: 'balanced',
          chain: ['models.fallback: balanced', expect.stringMatching(/^balanced: anthropic/)],
        },
      },
    ]);
  });

  test.each([
    ['gemini-4-argon', 'models.fallback: "gemini-4-argon" needs a key: set GEMINI_API_KEY'],
    [
      'no-such',
      'models.fallback: no configured provider has a model "no-such"; valid are fast, balanced, powerful, anthropic/',
    ],
    ['inherit', 'models.fallback: "inherit" can\'t be a fallback: name a model or a tier'],
    ['auto', 'models.fallback: "auto" can\'t be a fallback'],
    ['offline', 'models.fallback: "offline" can\'t be a fallback'],
  ])('is rejected: %s', (wish, message) => {
    const start = () => createModelChooser(setup([general(wish)]), { allowOverride: true });
    expect(start).toThrow(UsageError);
    expect(start).toThrow(message);
  });
});

describe('an agent whose model calls may not override', () => {
  const chooser = createModelChooser(setup([general('openai/gpt-6-sol')]), {
    allowOverride: false,
  });
  const model = { provider: 'anthropic', id: 'claude-haiku-4-5', chain: [] };
  test.each([
    ['names one', { model: 'claude-haiku-4-5' }, 0],
    ['names several', { models: ['inherit', 'claude-haiku-4-5'] }, 0],
    ['names a tier', { model: 'haiku' }, 1],
    ['inherits', { model: 'inherit' }, 1],
    ['names none', {}, 1],
  ])('%s', (_, agent, count) => {
    expect(chooser.fallbacks(model, agent).length).toBe(count);
  });
});
