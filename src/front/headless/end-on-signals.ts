import type { Muster } from '../../api/index.ts';
import { killAllProcesses } from '../../sys/processes.ts';
import { SIGNAL_EXIT_CODES, type EndingSignal } from './exit-code.ts';

/**
 * After this long, what has not stopped by itself is killed: SPEC gives 3 s for all of it, and a
 * command that ignores TERM takes 2 s.
 */
const STOP_MS = 2_700;

/** The first signal stops everything in order, the second at once. */
export function endOnSignals(muster: Muster) {
  let received: EndingSignal | null = null;
  const handlers = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((signal) => {
    const handler = () => {
      if (received !== null) endNow(SIGNAL_EXIT_CODES[signal]);
      received = signal;
      void muster.stop({ by: 'signal', because: `${signal} ended it` });
      setTimeout(() => endNow(SIGNAL_EXIT_CODES[signal]), STOP_MS).unref();
    };
    process.on(signal, handler);
    return { signal, handler };
  });
  // The program tells what went wrong with its output; here the work for nobody is stopped.
  const onOutputLost = (error: NodeJS.ErrnoException) => {
    received ??= 'SIGHUP';
    const because =
      error.code === 'EPIPE' ? 'nobody reads its output any more' : "its output can't be written";
    void muster.stop({ by: 'signal', because });
    setTimeout(() => endNow(SIGNAL_EXIT_CODES.SIGHUP), STOP_MS).unref();
  };
  process.stdout.once('error', onOutputLost);
  return {
    code: () => (received === null ? null : SIGNAL_EXIT_CODES[received]),
    forget: () => {
      for (const { signal, handler } of handlers) process.off(signal, handler);
      process.stdout.off('error', onOutputLost);
    },
  };
}

function endNow(code: number): never {
  void killAllProcesses({ graceMs: 0 });
  process.exit(code);
}
