import type { Muster } from '../../api/index.ts';
import { MusterError } from '../../base/errors.ts';
import { killAllProcesses } from '../../sys/processes/process-group.ts';
import { SIGNAL_EXIT_CODES, type EndingSignal } from './exit-code.ts';

/**
 * After this time everything that has not stopped is killed: everything must end within 3 s, and a command that
 * ignores TERM takes 2 s.
 */
const STOP_MS = 2_700;

export interface SignalWatch {
  /** Aborted by the first signal, with a `CANCELLED` error as its reason. */
  readonly signal: AbortSignal;
  /** Returns the exit code for the first signal; null if none has come. */
  code(): number | null;
  /** Stops to watch. */
  stop(): void;
}

/** Watches the signals that end a run: the first one stops everything in order, the second one at once. */
export function endOnSignals(muster: Pick<Muster, 'stop'>): SignalWatch {
  let received: EndingSignal | null = null;
  const ending = new AbortController();
  const end = (reason: string) => {
    ending.abort(new MusterError('CANCELLED', reason));
    void muster.stop({ by: 'signal', because: reason });
  };
  const handlers = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((signal) => {
    const handler = () => {
      if (received !== null) endNow(SIGNAL_EXIT_CODES[signal]);
      received = signal;
      end(`${signal} ended it`);
      setTimeout(() => endNow(SIGNAL_EXIT_CODES[signal]), STOP_MS).unref();
    };
    process.on(signal, handler);
    return { signal, handler };
  });
  // The command line reports what is wrong with the output; the work for it is stopped here.
  const onOutputLost = (error: NodeJS.ErrnoException) => {
    received ??= 'SIGHUP';
    end(
      error.code === 'EPIPE' ? 'nobody reads its output any more' : "its output can't be written",
    );
    setTimeout(() => endNow(SIGNAL_EXIT_CODES.SIGHUP), STOP_MS).unref();
  };
  process.stdout.once('error', onOutputLost);
  return {
    signal: ending.signal,
    code: () => (received === null ? null : SIGNAL_EXIT_CODES[received]),
    stop: () => {
      for (const { signal, handler } of handlers) process.off(signal, handler);
      process.stdout.off('error', onOutputLost);
    },
  };
}

function endNow(code: number): never {
  void killAllProcesses({ graceMs: 0 });
  process.exit(code);
}
