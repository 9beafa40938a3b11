import { expect, it } from 'vitest';
import {
  findExhaustedLimit,
  MAX_RESET_WAIT_MS,
  parseResetMs,
} from '../../../src/model/limiter/limit-headers.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');

it.each([
  ['12ms', 12],
  ['6m0s', 360_000],
  ['1h2m3.5s', 3_723_500],
  ['1d', 86_400_000],
  ['7.66', 7_660],
  ['0', 0],
  [String(NOW / 1000 + 5), 5_000],
  [String(NOW + 5), 5],
  ['2026-03-01T12:00:09Z', 9_000],
  ['2026-03-01T11:00:00Z', -3_600_000],
  ['9999-12-31T23:59:59Z', Date.parse('9999-12-31T23:59:59Z') - NOW],
  ['', null],
  ['-1', null],
  ['NaN', null],
  ['Infinity', null],
  ['1e9', null],
  ['soon', null],
  ['5s later', null],
  ['2026-99-99T00:00:00Z', null],
  [`${'1s'.repeat(10_000)}`, null],
])('a reset of %j', (text, ms) => {
  expect(parseResetMs(text.slice(0, 20_000), NOW)).toBe(ms);
});

it.each<[string, Record<string, string>, ReturnType<typeof findExhaustedLimit>]>([
  ['no such header', {}, null],
  [
    'OpenAI, no requests left',
    { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '2s' },
    { unit: 'requests', resetInMs: 2_000 },
  ],
  [
    'OpenAI, no tokens left',
    { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '120ms' },
    { unit: 'tokens', resetInMs: 120 },
  ],
  [
    'both: the longer counts',
    {
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '2s',
      'x-ratelimit-remaining-tokens': '0',
      'x-ratelimit-reset-tokens': '3s',
    },
    { unit: 'tokens', resetInMs: 3_000 },
  ],
  [
    'Cerebras, no requests left on this day',
    {
      'x-ratelimit-remaining-requests-day': '0',
      'x-ratelimit-reset-requests-day': '33.5',
      'x-ratelimit-remaining-tokens-minute': '57000',
      'x-ratelimit-reset-tokens-minute': '11.38',
    },
    { unit: 'requests', resetInMs: 33_500 },
  ],
  [
    'Anthropic',
    {
      'anthropic-ratelimit-requests-remaining': '0',
      'anthropic-ratelimit-requests-reset': '2026-03-01T12:00:04Z',
    },
    { unit: 'requests', resetInMs: 4_000 },
  ],
  [
    'Anthropic, tokens of one kind',
    {
      'anthropic-ratelimit-input-tokens-remaining': '0',
      'anthropic-ratelimit-input-tokens-reset': '2026-03-01T12:00:04Z',
    },
    { unit: 'tokens', resetInMs: 4_000 },
  ],
  [
    'some are left',
    { 'x-ratelimit-remaining-requests': '1', 'x-ratelimit-reset-requests': '2s' },
    null,
  ],
  ['not known', { 'x-ratelimit-remaining-tokens': '-1', 'x-ratelimit-reset-tokens': '0' }, null],
  [
    'none left, and back already',
    { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '0' },
    null,
  ],
  ['none left, and no time when they are back', { 'x-ratelimit-remaining-requests': '0' }, null],
  [
    'in the year 9999',
    {
      'anthropic-ratelimit-requests-remaining': '0',
      'anthropic-ratelimit-requests-reset': '9999-12-31T23:59:59Z',
    },
    { unit: 'requests', resetInMs: MAX_RESET_WAIT_MS },
  ],
  [
    'huge',
    { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '9'.repeat(60) },
    { unit: 'requests', resetInMs: MAX_RESET_WAIT_MS },
  ],
])('%s', (_, headers, none) => {
  expect(findExhaustedLimit(new Headers(headers), NOW)).toEqual(none);
});
