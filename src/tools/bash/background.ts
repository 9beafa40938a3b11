import type { Settlement } from '../../base/settlement.ts';
import { errorMessage, MusterError } from '../../base/errors.ts';
import type { BegunShell, ShellExit, ToolContext, ToolOutput } from '../../protocol/tool.ts';
import type { CommandInDirectory } from './command-directory.ts';
import { startCommand, supervise, type RunningCommand, type RunOutcome } from './command-run.ts';
import { leftRunningNote } from './remaining-processes.ts';
import { settledNotes } from './sandbox-notes.ts';

const SETTLE_MS = 1_000;

/** Starts a command that goes on after this call, until it ends, is stopped, or its task ends. */
export async function startInBackground(
  work: CommandInDirectory,
  context: ToolContext,
): Promise<ToolOutput> {
  const { id, output } = await context.shells.start({
    command: work.line,
    begin: (write, signal) => begin(work, context, { write, signal }),
  });
  const text = [
    `Shell ${id} runs in the background. Its output grows in ${output}`,
    `Look: TaskOutput(task_id: "${id}", block: false). Wait for its end: TaskOutput(task_id: "${id}"). Stop: TaskStop(task_id: "${id}").`,
    'You are told when it ends. What still runs at your final answer is stopped.',
  ].join('\n');
  return { text };
}

interface ShellWires {
  readonly write: (chunk: Buffer) => void;
  readonly signal: AbortSignal;
}

async function begin(
  work: CommandInDirectory,
  context: ToolContext,
  wires: ShellWires,
): Promise<BegunShell> {
  wires.signal.throwIfAborted();
  try {
    const running = await startCommand(work, context, { serves: true });
    const ended = runToEnd(running, wires, context);
    // Of one that did not start, `started` tells.
    ended.catch(() => {});
    await running.started;
    return { ended };
  } catch (thrown) {
    if (thrown instanceof MusterError) throw thrown;
    const message = `The shell could not be started: ${errorMessage(thrown)}`;
    throw new MusterError('INTERNAL_ERROR', message, { cause: thrown });
  }
}

/** A time-out is for calls that are waited for: a server runs as long as it is needed. */
async function runToEnd(
  running: RunningCommand,
  { write, signal }: ShellWires,
  context: ToolContext,
): Promise<ShellExit> {
  const take = (chunk: Buffer): boolean => {
    write(chunk);
    return true;
  };
  const tell = (settled: Settlement): void => {
    for (const note of settledNotes(settled, context)) write(Buffer.from(`${note}\n`));
  };
  // Nobody is to find what it must not make while it runs, which may be long.
  const settling = setInterval(() => {
    void running.settle().then(tell);
  }, SETTLE_MS);
  settling.unref();
  const outcome = await supervise(running, { timeoutMs: null, signal, take }).finally(() =>
    clearInterval(settling),
  );
  tell(outcome.settled);
  if (outcome.startError !== undefined) throw new Error(outcome.startError);
  const note = leftRunningNote(outcome.left);
  if (note !== null) write(Buffer.from(`${note}\n`));
  return { how: howEnded(outcome), exitCode: outcome.exitCode };
}

function howEnded({ endedBy, forced }: RunOutcome): ShellExit['how'] {
  if (endedBy === 'itself') return 'exited';
  return forced ? 'killed' : 'stopped';
}
