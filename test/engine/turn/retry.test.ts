import { describe, expect, it } from 'vitest';
import { decideRetry, NO_FAILURES } from '../../../src/engine/turn/retry.ts';
import type { ModelFailure } from '../../../src/protocol/model.ts';

const overloaded: ModelFailure = { kind: 'overloaded', message: 'busy', retryable: true };
const limited: ModelFailure = { kind: 'rate_limit', message: 'slow down', retryable: true };

describe('decideRetry', () => {
  it.each([
    ['the first failure', overloaded, NO_FAILURES, 250],
    ['the third', overloaded, { failures: 2, silences: 0 }, 1000],
    ['a late one', overloaded, { failures: 9, silences: 0 }, 15_000],
    ['one with Retry-After', { ...overloaded, retryAfterMs: 5000 }, NO_FAILURES, 5000],
    [
      'one that asks for a day',
      { ...overloaded, retryAfterMs: 86_400_000 },
      NO_FAILURES,
      86_400_000,
    ],
    [
      'a rate limit, which is held when it is sent',
      { ...limited, retryAfterMs: 7000 },
      NO_FAILURES,
      0,
    ],
  ])('waits after %s', (_, failure, state, waitMs) => {
    const decision = decideRetry(failure, state, {
      retries: 20,
      silentRetries: 1,
      treeRetries: 10,
      random: 0.5,
    });
    expect(decision).toMatchObject({ retry: true, waitMs });
  });

  it('is never immediate, whatever the random numbers', () => {
    const decision = decideRetry(overloaded, NO_FAILURES, {
      retries: 6,
      silentRetries: 1,
      treeRetries: 10,
      random: 0,
    });
    expect(decision).toMatchObject({ retry: true, waitMs: 100 });
  });

  it('gives up when its retries or those of the tree are used, but not because of a rate limit', () => {
    const used = { failures: 6, silences: 0 };
    const options = { retries: 6, silentRetries: 1, treeRetries: 10, random: 0.5 };
    expect(decideRetry(overloaded, used, options)).toEqual({ retry: false, reached: 'request' });
    expect(decideRetry(overloaded, NO_FAILURES, { ...options, treeRetries: 0 })).toEqual({
      retry: false,
      reached: 'tree',
    });
    expect(decideRetry(limited, used, { ...options, treeRetries: 0 })).toMatchObject({
      retry: true,
      next: used,
    });
  });

  it.each([
    ['first_token', { retry: false, reached: 'silent' }],
    ['stream_idle', { retry: false, reached: 'silent' }],
    ['connect', { retry: true, waitMs: 1000, next: { failures: 2, silences: 1 } }],
  ] as const)('happens once more after a silence: %s', (limit, second) => {
    const silent: ModelFailure = { kind: 'timeout', message: 'silent', retryable: true, limit };
    const options = { retries: 6, silentRetries: 1, treeRetries: 10, random: 1 };
    const taken = limit === 'connect' ? 0 : 1;
    expect(decideRetry(silent, NO_FAILURES, options)).toEqual({
      retry: true,
      waitMs: limit === 'connect' ? 500 : 100,
      next: { failures: 1, silences: taken },
    });
    expect(decideRetry(silent, { failures: 1, silences: 1 }, options)).toEqual(second);
  });

  it('never repeats a request that cannot succeed', () => {
    const auth: ModelFailure = { kind: 'auth', message: 'wrong key', retryable: false };
    const options = { retries: 6, silentRetries: 1, treeRetries: 10, random: 0 };
    expect(decideRetry(auth, NO_FAILURES, options)).toEqual({ retry: false, reached: null });
  });
});
