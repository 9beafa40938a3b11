import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { isCancelled } from '../../src/base/errors.ts';
import { endOnSignals } from '../../src/front/headless/end-on-signals.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('gives up what a run would begin with as cancelled, not as an error of its own', () => {
  const because: string[] = [];
  const stop = (request: { readonly because: string }) => {
    because.push(request.because);
    return Promise.resolve();
  };
  const signals = endOnSignals({ stop });
  try {
    process.emit('SIGHUP');
    expect(isCancelled(signals.signal.reason)).toBe(true);
    expect([signals.code(), because]).toEqual([129, ['SIGHUP ended it']]);
  } finally {
    signals.forget();
  }
});
