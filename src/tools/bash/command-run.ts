import type { Settlement } from '../../base/settlement.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Readable } from 'node:stream';
import { deferred, onAbort } from '../../base/async.ts';
import { deadlineAfter } from '../../base/deadlines.ts';
import { errorMessage, MusterError } from '../../base/errors.ts';
import type { CommandLimits, ToolContext } from '../../protocol/tool.ts';
import { takePipe } from '../../sys/pipes.ts';
import { spawnGroup, type ProcessGroup } from '../../sys/processes.ts';
import type { CommandInDirectory } from './command-directory.ts';
import { Monitor } from './command-monitor.ts';
import { leftRunning, NONE_LEFT, stillRunning, type LeftRunning } from './remaining-processes.ts';
import { findPlace } from '../search/search-scope.ts';

const SHELL = '/bin/bash';

/** How long the pipes may stay open after the shell has ended, before we look who holds them. */
const PIPE_GRACE_MS = 100;
/** An exit code above it stands for a signal, as shells have it. */
const SIGNAL_CODES = 128;

/** A command at work. */
export interface RunningCommand {
  readonly group: ProcessGroup;
  /** The arguments of its shell. */
  readonly shell: readonly string[];
  /** What holds it; null: nothing does. */
  readonly held: CommandLimits | null;
  /** Null where it is not monitored. */
  readonly monitor: Monitor | null;
  /** Once the command itself runs. Rejects when it could not start. */
  readonly started: Promise<void>;
  /** Puts aside what it has made and may not leave. */
  settle(): Promise<Settlement>;
  release(): void;
}

/** What is on the disk may go while a sandbox is laid over it: then another one is laid. */
const MOST_TRIES = 4;

/** Starts a command in its directory. Throws MusterError when that is not there, or may not be entered. */
export async function startCommand(
  work: CommandInDirectory,
  context: ToolContext,
  options: { readonly serves: boolean },
): Promise<RunningCommand> {
  for (let tries = 1; ; tries += 1) {
    const running = await tryToStart(work, context, options);
    if (tries === MOST_TRIES || (await hasBegun(running, context.signal))) return running;
    await running.group.end();
    running.release();
  }
}

/** False: its sandbox could not be made, and nothing of it has run. Whoever gets it sees all else. */
async function hasBegun({ monitor }: RunningCommand, signal: AbortSignal): Promise<boolean> {
  if (monitor === null) return true;
  const told = deferred<boolean>();
  const forget = onAbort(signal, () => told.resolve(true));
  monitor.begun.then(
    () => told.resolve(true),
    () => told.resolve(false),
  );
  return await told.promise.finally(forget);
}

async function tryToStart(
  { command, directory }: CommandInDirectory,
  context: ToolContext,
  { serves }: { readonly serves: boolean },
): Promise<RunningCommand> {
  const { real: cwd, isFile } = findPlace(directory, context);
  if (isFile) throw new MusterError('INVALID_PARAM', `${directory} is a file, not a directory`);
  // One pipe for both, so that the lines come in the order in which they were written.
  const argv = [SHELL, '--noprofile', '--norc', '-c', `exec 2>&1; ${command}`] as const;
  const { file, args, env, held, settle, release } = await context.sandbox.confine(argv, {
    cwd,
    serves,
    line: command,
  });
  try {
    const monitored = held?.monitored === true;
    const output = await takePipe();
    const group = spawnGroup(file, args, { cwd, env, monitored, startCheck: monitored, output });
    const monitor = monitored ? new Monitor(group.stderr) : null;
    const started = group.started.then(() => monitor?.begun);
    // Who waits for its end hears of it, too.
    started.catch(() => {});
    return { group, shell: argv, held, monitor, started, settle, release };
  } catch (thrown) {
    release();
    throw thrown;
  }
}

export interface RunOutcome {
  readonly endedBy: 'itself' | 'timeout' | 'cancel' | 'output_limit';
  /** Null when a signal ended the shell. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Processes that were still there when the shell had ended; they were ended, too. */
  readonly left: LeftRunning;
  /** It took KILL to end it. */
  readonly forced: boolean;
  readonly startError?: string;
  /** What held it; null: nothing did. */
  readonly held: CommandLimits | null;
  /** What it made under protected names. */
  readonly settled: Settlement;
}

type EndedBy = RunOutcome['endedBy'];

export interface Supervision {
  /** Milliseconds; null: as long as it takes. */
  readonly timeoutMs: number | null;
  readonly signal: AbortSignal;
  /** Gets what the command prints. False: that was too much, and the command is ended. */
  take(chunk: Buffer): boolean;
}

/**
 * Wait for a command, take its output, and see to it that nothing of it is left when this returns:
 * on time-out, cancellation, too much output, and also when the shell ended by itself.
 */
export async function supervise(
  running: RunningCommand,
  { timeoutMs, signal, take }: Supervision,
): Promise<RunOutcome> {
  const { group, shell, held, monitor } = running;
  let endedBy: EndedBy = 'itself';
  let hasExited = false;
  let ending: Promise<boolean> | undefined;
  const end = (why: EndedBy): void => {
    if (ending !== undefined) return;
    // Too late to have ended it.
    if (!hasExited) endedBy = why;
    ending = group.end();
  };
  const closed = collect(running, (chunk) => {
    if (!take(chunk)) end('output_limit');
  });
  const limit = timeoutMs === null ? null : deadlineAfter(timeoutMs, () => end('timeout'));
  const cancel = (): void => end('cancel');
  signal.addEventListener('abort', cancel);
  if (signal.aborted) cancel();
  try {
    const exit = await group.exited;
    hasExited = true;
    await Promise.race([closed, sleep(PIPE_GRACE_MS, undefined, { ref: false })]);
    const report = monitor?.report() ?? null;
    const found = report ?? (await stillRunning(group, () => ending !== undefined));
    const left = ending === undefined ? leftRunning(found, shell) : NONE_LEFT;
    ending ??= group.end();
    const forced = await ending;
    await Promise.race([closed, sleep(PIPE_GRACE_MS)]);
    const settled = await running.settle();
    if (report?.begun === false && endedBy === 'itself') return notStarted(report.problem, held);
    // A monitor tells of a signal by a number, and of one that was sent by us it is known.
    const byNumber = report !== null && endedBy !== 'itself' && (exit.code ?? 0) > SIGNAL_CODES;
    const exitCode = byNumber ? null : exit.code;
    return { endedBy, exitCode, signal: exit.signal, left, forced, held, settled };
  } catch (thrown) {
    return notStarted(errorMessage(thrown), held);
  } finally {
    limit?.cancel();
    signal.removeEventListener('abort', cancel);
    group.stdout.destroy();
    group.stderr.destroy();
    running.release();
  }
}

function notStarted(startError: string, held: CommandLimits | null): RunOutcome {
  const settled = { removed: [], fromCommits: [] };
  const nothing = { exitCode: null, signal: null, left: NONE_LEFT, forced: false, settled };
  return { ...nothing, endedBy: 'itself', startError, held };
}

/** Resolves when nobody holds the pipes any more. */
function collect(
  { group, monitor }: RunningCommand,
  take: (chunk: Buffer) => void,
): Promise<unknown> {
  const errors = monitor === null ? drain(group.stderr, take) : monitor.closed;
  return Promise.all([drain(group.stdout, take), errors]);
}

function drain(stream: Readable, take: (chunk: Buffer) => void): Promise<void> {
  return new Promise((resolve) => {
    stream.on('data', take);
    stream.once('close', resolve);
    // A pipe that breaks has nothing more to say; how the command ended is told by its exit.
    stream.once('error', () => resolve());
  });
}
