import { describe, expect, it } from 'vitest';
import { planRetry } from '../../src/web/retry-after.ts';

const NOW = Date.parse('2026-11-25T12:00:00Z');
const ANSWER = {
  status: 429,
  retryAfter: '5',
  method: 'GET',
  hasWaited: false,
  now: NOW,
  maxWaitMs: 10_000,
};

describe('planRetry', () => {
  it.each([
    [{}, 5_000],
    [{ status: 503 }, 5_000],
    [{ method: 'HEAD' }, 5_000],
    [{ retryAfter: '0' }, 0],
    [{ retryAfter: ' 10 ' }, 10_000],
    [{ retryAfter: 'Wed, 25 Nov 2026 12:00:07 GMT' }, 7_000],
    [{ retryAfter: 'Wed, 25 Nov 2026 11:00:00 GMT' }, 0],
  ])('waits for %j', (parts, ms) => {
    expect(planRetry({ ...ANSWER, ...parts })).toEqual({ kind: 'wait', ms });
  });

  it.each([
    { status: 200 },
    { status: 500 },
    { retryAfter: null },
    { retryAfter: '' },
    { retryAfter: 'soon' },
    { retryAfter: '-1.5x' },
  ])('uses the answer for %j', (parts) => {
    expect(planRetry({ ...ANSWER, ...parts })).toEqual({ kind: 'use' });
  });

  it.each([
    [
      { method: 'POST' },
      'the server answers HTTP 429 and asks to wait: try again in 5.0 s, at 2026-11-25T12:00:05Z',
    ],
    [
      { hasWaited: true },
      'the server answers HTTP 429 and asks to wait: try again in 5.0 s, at 2026-11-25T12:00:05Z',
    ],
    [
      { status: 503, retryAfter: '120' },
      'the server answers HTTP 503 and asks to wait: try again in 2 min 0 s, at 2026-11-25T12:02:00Z',
    ],
    [
      { maxWaitMs: 4_999 },
      'the server answers HTTP 429 and asks to wait: try again in 5.0 s, at 2026-11-25T12:00:05Z',
    ],
    [
      { retryAfter: '9'.repeat(400) },
      'the server answers HTTP 429 and asks to wait: try again in 527040 min 0 s, at 2027-11-26T12:00:00Z',
    ],
  ])('fails for %j and says when', (parts, text) => {
    expect(planRetry({ ...ANSWER, ...parts })).toEqual({ kind: 'fail', text });
  });
});
