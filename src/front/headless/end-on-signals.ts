import type { Muster } from '../../api/index.ts';
import { MusterError } from '../../base/errors.ts';
import { killAllProcesses } from '../../sys/processes.ts';
import { SIGNAL_EXIT_CODES, type EndingSignal } from './exit-code.ts';

/**
 * After this long, what has not stopped by itself is killed: 3 s are promised for all of it, and a
 * command that ignores TERM takes 2 s.
 */
const STOP_MS = 2_700;

export interface SignalWatch {
  /** Aborted by the first of them; its reason is `CANCELLED`, for whoever throws it. */
  readonly signal: AbortSignal;
  /** The exit code that the first of them asks for; null: none has come. */
  code(): number | null;
  /** Ends the watching. */
  forget(): void;
}

/** The first signal stops everything in order, the second at once. */
export function endOnSignals(muster: Pick<Muster, 'stop'>): SignalWatch {
  let received: EndingSignal | null = null;
  const ending = new AbortController();
  const end = (because: string) => {
    ending.abort(new MusterError('CANCELLED', because));
    void muster.stop({ by: 'signal', because });
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
  // The program tells what went wrong with its output; here the work for nobody is stopped.
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
