import { describe, expect, it } from 'vitest';
import { decideRetry, NO_FAILURES } from '../../src/engine/retry.ts';
import type { ModelFailure } from '../../src/protocol/model.ts';

const overloaded: ModelFailure = { kind: 'overloaded', message: 'busy', retryable: true };
const limited: ModelFailure = { kind: 'rate_limit', message: 'slow down', retryable: true };

describe('decideRetry', () => {
  it.each([
    ['the first failure', overloaded, NO_FAILURES, 250],
    ['the third', overloaded, { failures: 2, rateLimits: 0 }, 1000],
    ['a late one', overloaded, { failures: 5, rateLimits: 0 }, 8000],
    ['one with Retry-After', { ...overloaded, retryAfterMs: 5000 }, NO_FAILURES, 5000],
    ['a rate limit', limited, NO_FAILURES, 250],
    ['a rate limit with Retry-After', { ...limited, retryAfterMs: 7000 }, NO_FAILURES, 7000],
  ])('waits after %s', (_, failure, state, waitMs) => {
    const decision = decideRetry(failure, state, { retries: 6, random: 0 });
    expect(decision).toMatchObject({ retry: true, waitMs });
  });

  it('gives up when the tries are used, but never because of a rate limit', () => {
    const used = { failures: 6, rateLimits: 40 };
    const options = { retries: 6, random: 0.5 };
    expect(decideRetry(overloaded, used, options)).toEqual({ retry: false });
    expect(decideRetry(limited, used, options)).toMatchObject({
      retry: true,
      next: { failures: 6, rateLimits: 41 },
    });
  });

  it('never repeats what can not go better', () => {
    const auth: ModelFailure = { kind: 'auth', message: 'wrong key', retryable: false };
    expect(decideRetry(auth, NO_FAILURES, { retries: 6, random: 0 })).toEqual({ retry: false });
  });
});
