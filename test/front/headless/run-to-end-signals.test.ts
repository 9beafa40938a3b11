import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { isCancelled } from '../../../src/base/errors.ts';
import { endOnSignals } from '../../../src/front/headless/run-to-end.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('a signal cancels the run with an error that counts as cancelled', () => {
  const reasons: string[] = [];
  const stop = (request: { readonly because: string }) => {
    reasons.push(request.because);
    return Promise.resolve();
  };
  const signals = endOnSignals({ stop });
  try {
    process.emit('SIGHUP');
    expect(isCancelled(signals.signal.reason)).toBe(true);
    expect([signals.code(), reasons]).toEqual([129, ['SIGHUP ended it']]);
  } finally {
    signals.stop();
  }
});
