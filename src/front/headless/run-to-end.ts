import type { EventListener, Session, ResultEnvelope, Run } from '../../api/index.ts';
import { isCancelled, MusterError } from '../../base/errors.ts';
import { printError } from '../../sys/print.ts';
import { printParkedQuestions } from './question-lines.ts';
import { killAllProcesses } from '../../sys/processes/process-group.ts';
import type { TaskStatus } from '../../protocol/result.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';

/**
 * The time after which everything that has not stopped is killed. Everything must end within 3 s, and a command that
 * ignores TERM takes 2 s.
 */
const STOP_TIMEOUT_MS = 2_700;

export interface SignalWatch {
  /** Aborted by the first signal, with a `CANCELLED` error as its reason. */
  readonly signal: AbortSignal;
  /** Returns the exit code for the first signal; null if none has come. */
  code(): number | null;
  /** Stops watching. */
  stop(): void;
}

/** Watches the signals that end a run. The first signal stops everything in an orderly way, the second one at once. */
export function endOnSignals(muster: Pick<Session, 'stop'>): SignalWatch {
  let received: EndingSignal | null = null;
  const ending = new AbortController();
  const end = (reason: string, signal: EndingSignal) => {
    ending.abort(new MusterError('CANCELLED', reason));
    void muster.stop({ by: 'signal', because: reason });
    setTimeout(() => endNow(SIGNAL_EXIT_CODES[signal]), STOP_TIMEOUT_MS).unref();
  };
  const handlers = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((signal) => {
    const handler = () => {
      if (received !== null) endNow(SIGNAL_EXIT_CODES[signal]);
      received = signal;
      end(`${signal} ended it`, signal);
    };
    process.on(signal, handler);
    return { signal, handler };
  });
  // `watchOutput` of the command line reports the error. This handler stops the work, because nobody gets its output.
  const onOutputLost = (error: NodeJS.ErrnoException) => {
    received ??= 'SIGHUP';
    const isClosed = error.code === 'EPIPE';
    end(isClosed ? 'nobody reads its output any more' : "its output can't be written", 'SIGHUP');
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

/** The exit codes of `muster -p` by the status of its main task (docs/tasks.md). */
const EXIT_CODES: Readonly<Record<TaskStatus, number>> = {
  completed: 0,
  partial: 3,
  parked: 5,
  stopped: 6,
  killed: 6,
  failed: 1,
  interrupted: 1,
  queued: 1,
  running: 1,
};

/** Returns the exit code for the status of the main task. A run whose commands were all refused has not succeeded. */
export function exitCode(status: TaskStatus, refusedCommands: string | null = null): number {
  return refusedCommands !== null && status === 'completed' ? 1 : EXIT_CODES[status];
}

/** The exit codes after a signal: 128 plus the number of the signal, as in shells. */
export const SIGNAL_EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
type EndingSignal = keyof typeof SIGNAL_EXIT_CODES;

/** The tool whose calls are commands. */
const COMMAND_TOOL = 'Bash';

/** Watches whether the commands of a run were refused only because this machine has no sandbox. */
export class RefusedCommands {
  private refused = 0;
  private ran = 0;

  add(event: TaskEvent): void {
    if (event.type === 'call.started' && event.tool === COMMAND_TOOL) this.ran += 1;
    if (event.type !== 'call.refused' || event.tool !== COMMAND_TOOL) return;
    if (event.decision?.lacksSandbox !== undefined) this.refused += 1;
  }

  /** Returns a message if every command of the run was refused because there is no sandbox; otherwise null. */
  problem(): string | null {
    if (this.refused === 0 || this.ran > 0) return null;
    return 'no command ran: autonomous mode runs commands in a sandbox, and there is none. If this machine is a container that is itself the sandbox, use --sandbox container ([sandbox] kind = "container"). Otherwise see muster doctor, or allow commands by rules (--allow "Bash(npm test:*)")';
  }
}

export interface RunToEndOptions {
  /** The data directory, if it was given on the command line: it is part of the commands that are shown. */
  readonly dataDir: string | null;
  readonly onEvent: EventListener;
  /** Reports the result of the run. */
  readonly onResult: (envelope: ResultEnvelope, run: Run) => void;
  /** Called when everything else has been reported. */
  readonly onReported?: (envelope: ResultEnvelope) => void;
  /** Removes the live lines from the terminal. */
  readonly endProgress: () => void;
}

/** Starts a run. The signal is aborted when the process has to end. */
export type BeginRun = (onEvent: EventListener, signal: AbortSignal) => Promise<Run>;

/**
 * Starts a run without a person, waits for its end, and says what the user can do next. Resolves to the exit code and
 * the id of the main task, which is null if a signal ended the run before it started.
 */
export async function runToEnd(
  muster: Session,
  begin: BeginRun,
  { dataDir, onEvent, onResult, onReported, endProgress }: RunToEndOptions,
): Promise<{ readonly id: string | null; readonly code: number }> {
  const commands = new RefusedCommands();
  const signals = endOnSignals(muster);
  try {
    const run = await begin((event, state) => {
      onEvent(event, state);
      commands.add(event);
    }, signals.signal);
    const envelope = await run.result;
    endProgress();
    onResult(envelope, run);
    const { status } = envelope.data;
    if (status === 'parked') printParkedQuestions(run, dataDir);
    const refused = commands.problem();
    if (refused !== null) printError(`muster: ${refused}\n`);
    onReported?.(envelope);
    return { id: run.id, code: signals.code() ?? exitCode(status, refused) };
  } catch (thrown) {
    const code = signals.code();
    if (code === null || !isCancelled(thrown)) throw thrown;
    return { id: null, code };
  } finally {
    endProgress();
    signals.stop();
  }
}
