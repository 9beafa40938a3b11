import { describe, expect, it } from 'vitest';
import {
  decideRetry,
  NO_FAILURES,
  findRequestedWait,
  checkMaxWait,
  estimateRateLimitWait,
} from '../../../src/engine/turn/retry.ts';
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

const rateLimited: ModelFailure = {
  kind: 'rate_limit',
  message: 'p/m: slow down',
  retryable: true,
};
const NOW = new Date(2026, 10, 25, 15, 0, 0).getTime();
const asking = (seconds: number): ModelFailure => ({
  ...rateLimited,
  retryAfterMs: seconds * 1000,
});

describe('requestedWait', () => {
  const overloaded: ModelFailure = { kind: 'overloaded', message: 'busy', retryable: true };
  it.each([
    ['a rate limit without a stated time', rateLimited, 1000],
    ['a rate limit with a stated time', asking(7), 7000],
    [
      'an overloaded server with a stated time',
      { ...overloaded, retryAfterMs: 5_400_000 },
      5_400_000,
    ],
    ['an overloaded server without a stated time', overloaded, null],
  ] as const)('%s', (_, failure, ms) => {
    expect(findRequestedWait(failure, 2)).toBe(ms);
  });
});

describe('a rate limit', () => {
  it.each([
    [asking(7), 1, 7000],
    [asking(0), 3, 0],
    [rateLimited, 1, 500],
    [rateLimited, 3, 2000],
    [rateLimited, 1000, 30_000],
  ])(
    'is waited for about as long as the server asks: %j, the %s. in a row',
    (failure, inARow, ms) => {
      expect(estimateRateLimitWait(failure, inARow)).toBe(ms);
    },
  );

  it.each([
    [asking(300), 300, 300],
    [asking(86_400), 86_400, 0],
    [rateLimited, 0.5, 300],
  ])('is waited for: %j, %s s in all of %s', (failure, total, most) => {
    const wait = { totalMs: total * 1000, maxMs: most * 1000, now: NOW };
    expect(checkMaxWait(failure, wait)).toBeNull();
  });

  it.each([
    [asking(301), 301, 'try again at 2026-11-25 15:05:01, in 6 min: that is longer than'],
    [asking(5700), 5700, 'try again at 2026-11-25 16:35:00, in 95 min: that is longer than'],
    [asking(7260), 7260, 'try again at 2026-11-25 17:01:00, in 2 h 1 min: that is longer than'],
    [asking(36_000), 36_000, 'try again at 2026-11-26 01:00:00, in 10 h: that is longer than'],
    [asking(60), 360, 'try again at 2026-11-25 15:01:00, in 60 s: that is in all longer than'],
    [rateLimited, 310, 'the waits add up to 6 min, longer than'],
  ])('is not waited for: %j, %s s in all', (failure, total, says) => {
    const wait = { totalMs: total * 1000, maxMs: 300_000, now: NOW };
    const ended = checkMaxWait(failure, wait);
    expect(ended).toMatchObject({ kind: 'rate_limit', retryable: true });
    expect(ended?.message).toContain(
      `p/m: slow down (${says} the limit provider.max_wait_seconds = 300`,
    );
  });
});
