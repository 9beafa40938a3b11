import { setTimeout as sleep } from 'node:timers/promises';
import type { Readable } from 'node:stream';
import { errorMessage } from '../base/errors.ts';
import { plainText } from '../sys/plain-text.ts';
import type { ToolContext } from '../protocol/tool.ts';
import type { ProcessGroup } from '../sys/processes.ts';
import type { CommandOutput } from './command-output.ts';

/** How long the pipes may stay open after the shell has ended, before we look who holds them. */
const PIPE_GRACE_MS = 100;
const PROGRESS_MS = 250;

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

/**
 * Wait for a command, take its output, and see to it that nothing of it is left when this returns:
 * on time-out, cancellation, too much output, and also when the shell ended by itself.
 */
export async function supervise(
  group: ProcessGroup,
  output: CommandOutput,
  options: { readonly timeoutMs: number; readonly context: ToolContext },
): Promise<RunOutcome> {
  let endedBy: EndedBy = 'itself';
  let ending: Promise<boolean> | undefined;
  const end = (why: EndedBy): void => {
    if (ending !== undefined) return;
    endedBy = why;
    ending = group.end();
  };
  const closed = collect(group, output, options.context, () => end('output_limit'));
  const timer = setTimeout(() => end('timeout'), options.timeoutMs);
  const cancel = (): void => end('cancel');
  options.context.signal.addEventListener('abort', cancel);
  if (options.context.signal.aborted) cancel();
  try {
    const exit = await group.exited;
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
    options.context.signal.removeEventListener('abort', cancel);
    group.stdout.destroy();
    group.stderr.destroy();
  }
}

/** Resolves when nobody holds the pipes any more. */
async function collect(
  group: ProcessGroup,
  output: CommandOutput,
  context: ToolContext,
  onTooMuch: () => void,
): Promise<void> {
  let told = -Infinity;
  const take = (chunk: Buffer): void => {
    output.add(chunk);
    if (output.isOverSpill) onTooMuch();
    const now = context.clock.monotonic();
    if (now - told < PROGRESS_MS) return;
    told = now;
    const line = lastLine(chunk);
    if (line !== '') context.progress(line);
  };
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

function lastLine(chunk: Buffer): string {
  const lines = plainText(chunk.toString('utf8')).trimEnd().split('\n');
  return lines.at(-1)?.slice(0, 200) ?? '';
}
