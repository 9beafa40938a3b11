import { setTimeout as sleep } from 'node:timers/promises';
import type { Readable } from 'node:stream';
import { errorMessage } from '../base/errors.ts';
import { plural } from '../base/text.ts';
import type { ToolContext } from '../protocol/tool.ts';
import { commandEnvironment } from '../sys/command-environment.ts';
import { readEnvironment } from '../sys/env.ts';
import { spawnGroup, type ProcessGroup } from '../sys/processes.ts';
import { findPlace } from './search-scope.ts';

const SHELL = '/bin/bash';

/** How long the pipes may stay open after the shell has ended, before we look who holds them. */
const PIPE_GRACE_MS = 100;

/** Starts a command in the task's directory. Throws MusterError when that is not there. */
export function spawnCommand(command: string, context: ToolContext): ProcessGroup {
  const cwd = findPlace(context.cwd, context).real;
  const env = commandEnvironment(readEnvironment(), context.taskId);
  // One pipe for both, so that the lines come in the order in which they were written.
  const args = ['--noprofile', '--norc', '-c', `exec 2>&1; ${command}`];
  return spawnGroup(SHELL, args, { cwd, env });
}

export interface RunOutcome {
  readonly endedBy: 'itself' | 'timeout' | 'cancel' | 'output_limit';
  /** Null when a signal ended the shell. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Processes that were still there when the shell had ended; they were ended, too. */
  readonly leftRunning: number;
  /** It took KILL to end it. */
  readonly forced: boolean;
  readonly startError?: string;
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
  group: ProcessGroup,
  { timeoutMs, signal, take }: Supervision,
): Promise<RunOutcome> {
  let endedBy: EndedBy = 'itself';
  let hasExited = false;
  let ending: Promise<boolean> | undefined;
  const end = (why: EndedBy): void => {
    if (ending !== undefined) return;
    // Too late to have ended it.
    if (!hasExited) endedBy = why;
    ending = group.end();
  };
  const closed = collect(group, (chunk) => {
    if (!take(chunk)) end('output_limit');
  });
  const timer = timeoutMs === null ? undefined : setTimeout(() => end('timeout'), timeoutMs);
  const cancel = (): void => end('cancel');
  signal.addEventListener('abort', cancel);
  if (signal.aborted) cancel();
  try {
    const exit = await group.exited;
    hasExited = true;
    await Promise.race([closed, sleep(PIPE_GRACE_MS, undefined, { ref: false })]);
    const leftRunning = ending === undefined ? (group.members()?.length ?? 0) : 0;
    ending ??= group.end();
    const forced = await ending;
    await Promise.race([closed, sleep(PIPE_GRACE_MS)]);
    return { endedBy, exitCode: exit.code, signal: exit.signal, leftRunning, forced };
  } catch (thrown) {
    const startError = errorMessage(thrown);
    return { endedBy, exitCode: null, signal: null, leftRunning: 0, forced: false, startError };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', cancel);
    group.stdout.destroy();
    group.stderr.destroy();
  }
}

/** What of a command was still there when its shell had ended; null for nothing. */
export function leftRunningNote({ leftRunning }: RunOutcome): string | null {
  if (leftRunning === 0) return null;
  const were = plural(leftRunning, 'process was', 'processes were');
  return `[${were} still running in the background and stopped with the command]`;
}

/** Resolves when nobody holds the pipes any more. */
async function collect(group: ProcessGroup, take: (chunk: Buffer) => void): Promise<void> {
  await Promise.all([group.stdout, group.stderr].map((stream) => drain(stream, take)));
}

function drain(stream: Readable, take: (chunk: Buffer) => void): Promise<void> {
  return new Promise((resolve) => {
    stream.on('data', take);
    stream.once('close', resolve);
    // A pipe that breaks has nothing more to say; how the command ended is told by its exit.
    stream.once('error', () => resolve());
  });
}
