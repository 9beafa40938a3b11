import { describe, expect, it } from 'vitest';
import {
  countStreamFailures,
  retryDelay,
} from '../../../../src/front/web/page/model/retry-delay.ts';

describe('the wait before the next attempt', () => {
  it('grows with each failure up to five seconds', () => {
    expect([1, 2, 3, 4, 5, 6, 1_000].map(retryDelay)).toEqual([
      200, 500, 1_000, 2_000, 5_000, 5_000, 5_000,
    ]);
  });

  it.each([
    ['a server that does not answer', { hasProgressed: false, openMs: 0 }, 8],
    ['a stream that ends at once', { hasProgressed: false, openMs: 9_999 }, 8],
    ['a stream that was open for long', { hasProgressed: false, openMs: 10_000 }, 1],
    ['a stream that has sent something new', { hasProgressed: true, openMs: 1 }, 1],
  ])('counts the failures in a row: %s', (_, course, failures) => {
    expect(countStreamFailures(7, course)).toBe(failures);
  });
});
