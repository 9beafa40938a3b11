import { describe, expect, it } from 'vitest';
import { decideRetry, NO_FAILURES } from '../../src/engine/retry.ts';
import type { ModelFailure } from '../../src/protocol/model.ts';

const overloaded: ModelFailure = { kind: 'overloaded', message: 'busy', retryable: true };
const limited: ModelFailure = { kind: 'rate_limit', message: 'slow down', retryable: true };

describe('decideRetry', () => {
  it.each([
    ['the first failure', overloaded, NO_FAILURES, 250],
    ['the third', overloaded, { failures: 2 }, 1000],
    ['a late one', overloaded, { failures: 9 }, 15_000],
    ['one with Retry-After', { ...overloaded, retryAfterMs: 5000 }, NO_FAILURES, 5000],
    ['one that asks for a day', { ...overloaded, retryAfterMs: 86_400_000 }, NO_FAILURES, 60_000],
    [
      'a rate limit: it is held when it is sent',
      { ...limited, retryAfterMs: 7000 },
      NO_FAILURES,
      0,
    ],
  ])('waits after %s', (_, failure, state, waitMs) => {
    const decision = decideRetry(failure, state, { retries: 20, treeRetries: 10, random: 0.5 });
    expect(decision).toMatchObject({ retry: true, waitMs });
  });

  it('never comes back at once, whatever chance says', () => {
    const decision = decideRetry(overloaded, NO_FAILURES, {
      retries: 6,
      treeRetries: 10,
      random: 0,
    });
    expect(decision).toMatchObject({ retry: true, waitMs: 100 });
  });

  it('gives up when its tries or those of the tree are used, but not because of a rate limit', () => {
    const used = { failures: 6 };
    const options = { retries: 6, treeRetries: 10, random: 0.5 };
    expect(decideRetry(overloaded, used, options)).toEqual({ retry: false, spent: 'request' });
    expect(decideRetry(overloaded, NO_FAILURES, { ...options, treeRetries: 0 })).toEqual({
      retry: false,
      spent: 'tree',
    });
    expect(decideRetry(limited, used, { ...options, treeRetries: 0 })).toMatchObject({
      retry: true,
      next: { failures: 6 },
    });
  });

  it('never repeats what can not go better', () => {
    const auth: ModelFailure = { kind: 'auth', message: 'wrong key', retryable: false };
    const options = { retries: 6, treeRetries: 10, random: 0 };
    expect(decideRetry(auth, NO_FAILURES, options)).toEqual({ retry: false, spent: null });
  });
});
