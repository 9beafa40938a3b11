import type { CleanupResult } from '../../base/cleanup-result.ts';
import { errorMessage, MusterError } from '../../base/errors.ts';
import { byteLength } from '../../base/text.ts';
import type { ToolOutput, BegunShell, ShellExit, ToolContext } from '../../protocol/tool.ts';
import { defineBuiltinTool } from '../shared/define-tool.ts';
import { failure } from '../shared/output.ts';
import {
  resolveCommandDirectory,
  type CommandInDirectory,
  startCommand,
  supervise,
  type RunningCommand,
  type RunOutcome,
} from './command-run.ts';
import { formatLeftProcesses, listLeftProcesses } from './left-processes.ts';
import { describeProcessStop, runInForeground } from './foreground.ts';
import { protectedFileNotes } from './sandbox-notes.ts';

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 600_000;
/** The maximum length of a command. The kernel accepts arguments of up to 128 KiB. */
const MAX_COMMAND_BYTES = 120_000;

export const bashTool = defineBuiltinTool({
  name: 'Bash',
  kind: 'execute',
  replay: 'opaque',
  description:
    'Run a bash command in the working directory. Each call is a new shell: cd and variables do not last, stdin is empty, and what still runs at its end is stopped. For files prefer Read, Edit, Glob and Grep.',
  input: {
    type: 'object',
    properties: {
      command: { type: 'string', minLength: 1 },
      timeout: {
        type: 'integer',
        minimum: 1,
        maximum: MAX_TIMEOUT_MS,
        lowIsAbsent: true,
        description: `ms, default ${DEFAULT_TIMEOUT_MS}; none in the background`,
      },
      run_in_background: {
        type: 'boolean',
        description:
          'return at once with an id (servers, long builds; no &); you are told when it ends',
      },
      description: { type: 'string', description: '5-10 words' },
      // Models send `workdir` because other products offer it. It is not in the schema for models, because `cd` in the
      // command does the same.
      workdir: { type: 'string', unlisted: true },
    },
    required: ['command'],
    ignored: ['justification', 'goal'],
    // Arguments of other products' tools, accepted only with the value that matches what this tool does.
    fixed: {
      dangerouslyDisableSandbox: [false],
      with_escalated_permissions: [false],
      sandbox_permissions: ['use_default'],
      requires_approval: [false],
      require_user_approval: [false],
      restart: [false],
      shell: ['bash', '/bin/bash'],
    },
  },
  aliases: {
    cmd: 'command',
    script: 'command',
    timeout_ms: 'timeout',
    is_background: 'run_in_background',
    background: 'run_in_background',
    cwd: 'workdir',
    dir: 'workdir',
    directory: 'workdir',
    dir_path: 'workdir',
    working_dir: 'workdir',
    working_directory: 'workdir',
    current_directory: 'workdir',
  },
  describe: ({ command, workdir, run_in_background: background = false }, { cwd }) => {
    const { line, directory } = resolveCommandDirectory(command, workdir, cwd);
    return {
      reads: directory === cwd ? [] : [directory],
      writes: [],
      commands: [line],
      ...(background ? { background } : {}),
      hosts: [],
    };
  },
  run: async (input, context) => {
    const { timeout, run_in_background: background = false } = input;
    const command = resolveCommandDirectory(input.command, input.workdir, context.cwd);
    const refusal = refuseCommand(input.command);
    if (refusal !== null) return refusal;
    if (!background) return await runInForeground(command, timeout ?? DEFAULT_TIMEOUT_MS, context);
    const started = await startInBackground(command, context);
    if (timeout === undefined) return started;
    return { ...started, text: `${started.text}\n[timeout: has no effect in the background]` };
  },
});

function refuseCommand(command: string): ToolOutput | null {
  if (command.includes('\0')) return failure('INVALID_PARAM', 'command: contains a NUL character');
  if (byteLength(command) <= MAX_COMMAND_BYTES) return null;
  const message = `command: is longer than ${MAX_COMMAND_BYTES} bytes; write it to a file and run that`;
  return failure('LIMIT_EXCEEDED', message);
}

/** The interval at which protected files that the command has created are moved out of the workspace. */
const CLEANUP_INTERVAL_MS = 1_000;
/** The interval at which the changes of a command are found, so that their times are known. */
const CHECKPOINT_INTERVAL_MS = 5_000;

/** Starts a command that keeps running after this call, until it ends, is stopped, or its task ends. */
async function startInBackground(
  command: CommandInDirectory,
  context: ToolContext,
): Promise<ToolOutput> {
  const { id, output } = await context.shells.start({
    command: command.line,
    begin: (write, signal) => beginShell(command, context, { write, signal }),
  });
  const text = [
    `Shell ${id} runs in the background. Its output grows in ${output}`,
    `Look: TaskOutput(task_id: "${id}", block: false). Wait for its end: TaskOutput(task_id: "${id}"). Stop: TaskStop(task_id: "${id}").`,
    'You are told when it ends. What still runs at your final answer is stopped.',
  ].join('\n');
  return { text };
}

/** The connection of a background command to its shell: where its output goes, and the signal that stops it. */
interface ShellConnection {
  readonly write: (chunk: Buffer) => void;
  readonly signal: AbortSignal;
}

async function beginShell(
  command: CommandInDirectory,
  context: ToolContext,
  connection: ShellConnection,
): Promise<BegunShell> {
  connection.signal.throwIfAborted();
  try {
    const running = await startCommand(command, context, { serves: true });
    const ended = runToEnd(running, connection, context);
    // Avoid an unhandled rejection: if the command does not start, `started` rejects with the same reason.
    ended.catch(() => {});
    await running.started;
    return { ended };
  } catch (thrown) {
    if (thrown instanceof MusterError) throw thrown;
    const message = `The shell could not be started: ${errorMessage(thrown)}`;
    throw new MusterError('INTERNAL_ERROR', message, { cause: thrown });
  }
}

/** Supervises a command until it ends. There is no timeout, because a server runs as long as it is needed. */
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
  // The command may run for a long time, and a protected file that it creates must not stay in the workspace until it
  // ends.
  const cleanupTimer = setInterval(() => {
    void running.settle().then(reportProtectedFiles);
  }, CLEANUP_INTERVAL_MS);
  cleanupTimer.unref();
  const checkpointTimer = setInterval(() => {
    // A failure is reported when the observation ends.
    running.observation?.checkpoint().catch(() => {});
  }, CHECKPOINT_INTERVAL_MS);
  checkpointTimer.unref();
  const outcome = await supervise(running, { timeoutMs: null, signal, take }).finally(() => {
    clearInterval(cleanupTimer);
    clearInterval(checkpointTimer);
  });
  reportProtectedFiles(outcome.settled);
  if (outcome.startError !== undefined) throw new Error(outcome.startError);
  const note =
    outcome.endedBy === 'process_limit'
      ? describeProcessStop(outcome)
      : formatLeftProcesses(outcome.remaining);
  if (note !== null) write(Buffer.from(`${note}\n`));
  const { exitCode, changes, remaining } = outcome;
  return {
    how: describeEnd(outcome),
    exitCode,
    ...(changes === null ? {} : { changes }),
    ...listLeftProcesses(remaining),
  };
}

function describeEnd({ endedBy, forced }: RunOutcome): ShellExit['how'] {
  if (endedBy === 'itself') return 'exited';
  if (endedBy === 'process_limit') return endedBy;
  return forced ? 'killed' : 'stopped';
}
