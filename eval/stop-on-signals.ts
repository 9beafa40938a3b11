import { constants } from 'node:os';
import { killAllProcesses } from '../src/sys/processes/process-group.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The reason of an evaluation that a signal has stopped. */
export class StoppedBySignal extends Error {
  /** The exit code as a shell reports it. */
  readonly exitCode: number;

  constructor(signal: NodeJS.Signals) {
    super(`stopped by ${signal}`);
    this.exitCode = 128 + constants.signals[signal];
  }
}

/**
 * Aborts with `StoppedBySignal` when a signal is to end this process, and ends the agents and checks, which do not get the
 * signals of a terminal. A second signal ends this process at once.
 */
export function stopOnSignals(stop: AbortController): Disposable {
  const listener = (signal: NodeJS.Signals): void => {
    const reason = new StoppedBySignal(signal);
    if (stop.signal.aborted) {
      void killAllProcesses({ graceMs: 0 });
      process.exit(reason.exitCode);
    }
    process.stderr.write('Stopping. The same command continues the evaluation.\n');
    stop.abort(reason);
    void killAllProcesses();
  };
  for (const signal of SIGNALS) process.on(signal, listener);
  return {
    [Symbol.dispose]: () => {
      for (const signal of SIGNALS) process.off(signal, listener);
    },
  };
}
