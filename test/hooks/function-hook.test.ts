import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { runFunctionHook } from '../../src/hooks/function-hook.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Runs a function that never ends. */
function runEndless(signal: AbortSignal) {
  const signals: AbortSignal[] = [];
  const end = runFunctionHook({
    run: async (_input, context) => {
      signals.push(context.signal);
      return await new Promise<undefined>(() => {});
    },
    input: '{}',
    timeoutMs: 60_000,
    signal,
  });
  return { end, signals };
}

it('leaves no timer when it is stopped while its function never ends', async () => {
  const controller = new AbortController();
  const { end, signals } = runEndless(controller.signal);
  controller.abort();
  expect(await end).toEqual({
    kind: 'failed',
    reason: 'it was ended, because its call or task was stopped',
  });
  expect([vi.getTimerCount(), signals.map(({ aborted }) => aborted)]).toEqual([0, [true]]);
});

it('ends at its time limit and tells its function', async () => {
  const { end, signals } = runEndless(new AbortController().signal);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await end).toEqual({ kind: 'timeout', limitMs: 60_000 });
  expect([vi.getTimerCount(), signals.map(({ aborted }) => aborted)]).toEqual([0, [true]]);
});
