import { describe, expect, it } from 'vitest';
import { PromptCache } from '../../src/testing/prompt-cache.ts';
import type { PromptBlock } from '../../src/testing/wire/codec.ts';
import { clientOf, fakeModel, listen } from './support.ts';

/** A block of so many tokens. */
function block(name: string, tokens: number, breakpoint = false): PromptBlock {
  return { section: 'messages', text: name.padEnd(tokens * 4, name), breakpoint };
}

const A = block('a', 1000, true);
const B = block('b', 500, true);
const C = block('c', 300);

describe('if the client marks it', () => {
  const ask = (cache: PromptCache, blocks: readonly PromptBlock[], model = 'm') => {
    const lookup = cache.lookup(model, blocks, 'breakpoints');
    lookup.commit();
    return lookup.usage;
  };

  it('the cache is written up to the last mark, and the longest written prefix is read', () => {
    const cache = new PromptCache({ minTokens: 100 });
    expect(ask(cache, [A, C])).toEqual({ cacheRead: 0, cacheWrite: 1000, input: 300 });
    expect(ask(cache, [A, C])).toEqual({ cacheRead: 1000, cacheWrite: 0, input: 300 });
    expect(ask(cache, [A, B, C])).toEqual({ cacheRead: 1000, cacheWrite: 500, input: 300 });
    expect(ask(cache, [A, B, C])).toEqual({ cacheRead: 1500, cacheWrite: 0, input: 300 });
  });

  it('an earlier entry is read when the mark has moved on', () => {
    const cache = new PromptCache({ minTokens: 100 });
    ask(cache, [A]);
    const moved = [{ ...A, breakpoint: false }, C, B];
    expect(ask(cache, moved)).toEqual({ cacheRead: 1000, cacheWrite: 800, input: 0 });
  });

  it('nothing is read across models, after a changed block, or without marks', () => {
    const cache = new PromptCache({ minTokens: 100 });
    ask(cache, [A, B]);
    expect(ask(cache, [A, B], 'other').cacheRead).toBe(0);
    expect(ask(cache, [block('x', 10), A, B]).cacheRead).toBe(0);
    const unmarked = [block('a', 1000), block('b', 500)];
    expect(ask(cache, unmarked)).toEqual({ cacheRead: 0, cacheWrite: 0, input: 1500 });
  });

  it('nothing shorter than the minimum is cached', () => {
    const cache = new PromptCache();
    expect(ask(cache, [A])).toEqual({ cacheRead: 0, cacheWrite: 0, input: 1000 });
    expect(ask(cache, [A]).cacheRead).toBe(0);
  });

  it('others can read only once the answer has begun', () => {
    const cache = new PromptCache({ minTokens: 100 });
    const first = cache.lookup('m', [A], 'breakpoints');
    expect(cache.lookup('m', [A], 'breakpoints').usage.cacheRead).toBe(0);
    first.commit();
    expect(cache.lookup('m', [A], 'breakpoints').usage.cacheRead).toBe(1000);
  });
});

it('without marks any long prefix is cached, in steps of 128, and writes are not reported', () => {
  const cache = new PromptCache();
  const long = block('l', 2000);
  const ask = (blocks: readonly PromptBlock[]) => {
    const lookup = cache.lookup('m', blocks, 'automatic');
    lookup.commit();
    return lookup.usage;
  };
  expect(ask([C, long])).toEqual({ cacheRead: 0, cacheWrite: 0, input: 2300 });
  expect(ask([C, long, C])).toEqual({ cacheRead: 2176, cacheWrite: 0, input: 424 });
  expect(ask([C, B])).toEqual({ cacheRead: 0, cacheWrite: 0, input: 800 });
});

it('reaches the client as usage', async () => {
  const fake = await fakeModel({ promptCache: { minTokens: 10 } });
  const model = clientOf('anthropic', fake);
  const prompt = [
    {
      role: 'system' as const,
      content: 'stable '.repeat(100),
      providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } },
    },
    { role: 'user' as const, content: [{ type: 'text' as const, text: 'hello' }] },
  ];
  const first = (await listen(model, { prompt })).finish?.usage.inputTokens;
  const second = (await listen(model, { prompt })).finish?.usage.inputTokens;
  expect(first?.cacheWrite).toBeGreaterThan(100);
  expect(second).toEqual({ ...first, cacheRead: first?.cacheWrite, cacheWrite: 0 });
});
