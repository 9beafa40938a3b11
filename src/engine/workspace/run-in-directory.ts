import type { SetupRunner } from '../../protocol/workspace.ts';
import { createCommandSandbox, createToolContext } from '../calls/tool-context.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { TaskRun } from '../task/task-run.ts';

/** A command that Muster runs itself, in a directory of a workspace. */
interface CommandToRun {
  readonly command: string;
  readonly directory: string;
  /** The directories in which the command may write. Absolute, without links. */
  readonly roots: readonly string[];
  readonly signal: AbortSignal;
}

const MAX_MS = 600_000;

/** Runs a command line with the shell tool and the rights of a task, but in other directories. */
export async function runInDirectory(
  deps: EngineDeps,
  run: TaskRun,
  { command, directory, roots, signal }: CommandToRun,
): ReturnType<SetupRunner> {
  const bash = deps.tools.find(({ name }) => name === 'Bash');
  const parsed = bash?.parse({ command, timeout: Math.min(deps.settings.caps.toolMs, MAX_MS) });
  if (bash === undefined || parsed?.ok !== true) throw new Error(`no shell can run ${command}`);
  const { rights } = run.permissions;
  const context = createToolContext(deps, run, {
    callId: 'workspace',
    tool: 'Bash',
    signal,
    pathAccess: { roots, judged: new Map(), excludedPathsBelow: () => null },
    decision: undefined,
    runWait: (wait) => wait(),
  });
  const sandbox = createCommandSandbox({
    sandbox: deps.sandbox,
    environment: deps.environment,
    variableNames: deps.settings.commandVariables,
    taskId: run.spec.id,
    rights: { ...rights, mode: 'default', roots },
    home: deps.home,
  });
  // What the command changes are no changes of the task.
  const { changes: _, ...rest } = context;
  const { error, facts, text } = await bash.run(parsed.input, {
    ...rest,
    cwd: directory,
    sandbox: run.tree.commands.queueCommands(sandbox, signal),
  });
  signal.throwIfAborted();
  const exitCode = error === undefined ? (facts?.commands?.[0]?.exitCode ?? null) : null;
  return { exitCode, output: text };
}
