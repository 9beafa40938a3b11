import { describe, expect, it } from 'vitest';
import { mostOf, namingOutput } from '../../src/engine/estimate.ts';
import { limitMessage } from '../../src/engine/limits.ts';
import type { LimitHit } from '../../src/protocol/stint.ts';

const MODEL = { provider: 'a', id: 'b' };
const PRICE = {
  input: 1,
  output: 10,
  cacheRead: 0,
  cacheWrite: 1,
  source: 'config.toml',
  asOf: null,
} as const;
const FACTS = { maxOutput: 32_000, price: PRICE };

function hit(limit: string, input: number): LimitHit {
  const { tokens, costUsd } = mostOf(input, FACTS);
  return { limit, value: 1, used: 0, needed: limit.endsWith('cost_usd') ? costUsd : tokens };
}

describe('a cap that leaves no room for one answer', () => {
  it.each([
    ['tree_tokens', 2_000, true],
    ['tree_tokens', 32_000, false],
    ['max_tokens', 31_999, true],
    // Output costs ten times as much here.
    ['max_cost_usd', 300_000, true],
    ['tree_cost_usd', 320_000, false],
  ])('%s with %i tokens of input names the output limit: %s', (limit, input, isNamed) => {
    const given = hit(limit, input);
    const output = { model: 'a/b', limit: 32_000 };
    expect(namingOutput(given, MODEL, FACTS)).toEqual(isNamed ? { ...given, output } : given);
  });

  it('names none where none is sent, or the hit is of something else', () => {
    const given = hit('tree_tokens', 1);
    expect(namingOutput(given, MODEL, { ...FACTS, maxOutput: null })).toEqual(given);
    const turns = { limit: 'tree_turns', value: 1, used: 1 };
    expect(namingOutput(turns, MODEL, FACTS)).toEqual(turns);
  });

  it('says how to need less', () => {
    expect(limitMessage(namingOutput(hit('tree_tokens', 2_000), MODEL, FACTS))).toBe(
      'the limit tree_tokens = 1 leaves no room for the next request (0 used, up to 34000 needed, most of it for an answer of 32000 tokens, the output limit of a/b). A lower output_limit in [models.catalogue."a/b"] of your configuration needs less',
    );
  });
});
