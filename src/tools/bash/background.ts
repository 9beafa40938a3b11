import type { CleanupResult } from '../../base/cleanup-result.ts';
import { errorMessage, MusterError } from '../../base/errors.ts';
import type { BegunShell, ShellExit, ToolContext, ToolOutput } from '../../protocol/tool.ts';
import type { CommandInDirectory } from './command-directory.ts';
import { startCommand, supervise, type RunningCommand, type RunOutcome } from './command-run.ts';
import { describeRemainingProcesses } from './remaining-processes.ts';
import { protectedFileNotes } from './sandbox-notes.ts';

/** The interval at which protected files that the command has made are moved away. */
const SETTLE_MS = 1_000;

/** Starts a command that keeps running after this call, until it ends, is stopped, or its task ends. */
export async function startInBackground(
  work: CommandInDirectory,
  context: ToolContext,
): Promise<ToolOutput> {
  const { id, output } = await context.shells.start({
    command: work.line,
    begin: (write, signal) => beginShell(work, context, { write, signal }),
  });
  const text = [
    `Shell ${id} runs in the background. Its output grows in ${output}`,
    `Look: TaskOutput(task_id: "${id}", block: false). Wait for its end: TaskOutput(task_id: "${id}"). Stop: TaskStop(task_id: "${id}").`,
    'You are told when it ends. What still runs at your final answer is stopped.',
  ].join('\n');
  return { text };
}

interface ShellConnection {
  readonly write: (chunk: Buffer) => void;
  readonly signal: AbortSignal;
}

async function beginShell(
  work: CommandInDirectory,
  context: ToolContext,
  connection: ShellConnection,
): Promise<BegunShell> {
  connection.signal.throwIfAborted();
  try {
    const running = await startCommand(work, context, { serves: true });
    const ended = runToEnd(running, connection, context);
    // If the command does not start, `started` rejects with the reason.
    ended.catch(() => {});
    await running.started;
    return { ended };
  } catch (thrown) {
    if (thrown instanceof MusterError) throw thrown;
    const message = `The shell could not be started: ${errorMessage(thrown)}`;
    throw new MusterError('INTERNAL_ERROR', message, { cause: thrown });
  }
}

/** Supervises a command to its end. There is no timeout, because a server runs as long as it is needed. */
async function runToEnd(
  running: RunningCommand,
  { write, signal }: ShellConnection,
  context: ToolContext,
): Promise<ShellExit> {
  const take = (chunk: Buffer): boolean => {
    write(chunk);
    return true;
  };
  const reportProtectedFiles = (settled: CleanupResult): void => {
    for (const note of protectedFileNotes(settled, context)) write(Buffer.from(`${note}\n`));
  };
  // The command may run for long, and nobody should find a protected file that it makes meanwhile.
  const settling = setInterval(() => {
    void running.settle().then(reportProtectedFiles);
  }, SETTLE_MS);
  settling.unref();
  const outcome = await supervise(running, { timeoutMs: null, signal, take }).finally(() =>
    clearInterval(settling),
  );
  reportProtectedFiles(outcome.settled);
  if (outcome.startError !== undefined) throw new Error(outcome.startError);
  const note = describeRemainingProcesses(outcome.remaining);
  if (note !== null) write(Buffer.from(`${note}\n`));
  return { how: howEnded(outcome), exitCode: outcome.exitCode };
}

function howEnded({ endedBy, forced }: RunOutcome): ShellExit['how'] {
  if (endedBy === 'itself') return 'exited';
  return forced ? 'killed' : 'stopped';
}
