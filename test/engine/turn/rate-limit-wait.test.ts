import { describe, expect, it } from 'vitest';
import {
  findRequestedWait,
  checkMaxWait,
  estimateRateLimitWait,
} from '../../../src/engine/turn/retry.ts';
import type { ModelFailure } from '../../../src/protocol/model.ts';

const limited: ModelFailure = { kind: 'rate_limit', message: 'p/m: slow down', retryable: true };
const NOW = new Date(2026, 10, 25, 15, 0, 0).getTime();
const asking = (seconds: number): ModelFailure => ({ ...limited, retryAfterMs: seconds * 1000 });

describe('requestedWait', () => {
  const overloaded: ModelFailure = { kind: 'overloaded', message: 'busy', retryable: true };
  it.each([
    ['a rate limit without a stated time', limited, 1000],
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
    [limited, 1, 500],
    [limited, 3, 2000],
    [limited, 1000, 30_000],
  ])(
    'is waited for about as long as the server asks: %j, the %s. in a row',
    (failure, inARow, ms) => {
      expect(estimateRateLimitWait(failure, inARow)).toBe(ms);
    },
  );

  it.each([
    [asking(300), 300, 300],
    [asking(86_400), 86_400, 0],
    [limited, 0.5, 300],
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
    [limited, 310, 'the waits add up to 6 min, longer than'],
  ])('is not waited for: %j, %s s in all', (failure, total, says) => {
    const wait = { totalMs: total * 1000, maxMs: 300_000, now: NOW };
    const ended = checkMaxWait(failure, wait);
    expect(ended).toMatchObject({ kind: 'rate_limit', retryable: true });
    expect(ended?.message).toContain(
      `p/m: slow down (${says} the limit provider.max_wait_seconds = 300`,
    );
  });
});
