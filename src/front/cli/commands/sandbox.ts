import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { resolve } from 'node:path';
import { Duplex } from 'node:stream';
import { loadConfig } from '../../../config/load.ts';
import { dataDir } from '../../../config/paths.ts';
import { errorMessage } from '../../../base/errors.ts';
import { terminalText } from '../../../base/terminal-text.ts';
import { answerStartCheck } from '../../../sys/start-check.ts';
import { commandEnvironment } from '../../../sys/command-environment.ts';
import type { ConfinedCommand } from '../../../sys/sandbox/sandbox.ts';
import type { SandboxCommand } from '../command.ts';
import { configInputs, type CommandContext } from './context.ts';
import { confinementOf } from '../../../api/setup/sandbox.ts';
import { sandboxOf } from '../../../api/setup/sandbox.ts';
import { workspaceRoots } from '../../../api/setup/workspace.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** What of the terminal a command of the user's own may know. */
const TERMINAL = ['TERM', 'COLORTERM', 'NO_COLOR'];

/**
 * `muster sandbox`: the command with the stdin, stdout and stderr of this process, in the sandbox that
 * an agent's commands get. Resolves with its exit code, 128 and the number of a signal that ended it; 1
 * where there is no sandbox, and then nothing is run. Throws UsageError.
 */
export async function sandboxCommand(
  command: SandboxCommand,
  context: CommandContext,
): Promise<number> {
  const roots = workspaceRoots(resolve(context.cwd, command.cwd ?? '.'), command.addDirs);
  const [cwd] = roots;
  // A project has no say in these settings, trusted or not.
  const inputs = configInputs({ ...command, trustProject: false, flags: [] }, context);
  const { config } = await loadConfig(inputs);
  const { kind, caches, network, env: variables } = config.sandbox;
  const place = { environment: context.environment, home: context.home };
  const chosen = command.dataDir === null ? {} : { dataDir: command.dataDir };
  const data = dataDir(place, { cwd: context.cwd, ...chosen });
  const sandbox = sandboxOf({ ...place, kind, caches, roots, dataDir: data, keepsRecords: true });
  const state = await sandbox.state();
  if (!state.on) {
    context.err(
      `muster: no sandbox, so nothing was run: ${terminalText(state.because, 'exact')}\n`,
    );
    context.err(`muster: to get one: ${terminalText(state.hint, 'exact')}\n`);
    return 1;
  }
  const access = command.readOnly ? 'read-only' : 'workspace';
  const env = commandEnvironment(context.environment, {
    further: [...TERMINAL, ...variables],
    git: { access, confined: true },
    network: network || command.network,
  });
  const confined = sandbox.confine({
    argv: command.argv,
    cwd,
    env,
    confinement: confinementOf(command.argv, {
      access,
      roots,
      network: network || command.network,
    }),
    stderr: 'command',
  });
  try {
    const code = await runToEnd(confined, cwd);
    const { removed } = await confined.settle();
    for (const entry of removed) {
      const what =
        entry.keptAt === null
          ? `${entry.path} could not be taken away: ${entry.problem}`
          : `${entry.path} was moved to ${entry.keptAt}`;
      context.err(
        `muster: a command may not make protected files: ${terminalText(what, 'exact')}\n`,
      );
    }
    return code;
  } catch (thrown) {
    context.err(`muster: the sandbox failed: ${terminalText(errorMessage(thrown), 'exact')}\n`);
    return 1;
  } finally {
    confined.release();
  }
}

/** A signal that comes meanwhile ends the command, whose end is waited for. */
async function runToEnd({ file, args, env }: ConfinedCommand, cwd: string): Promise<number> {
  const stdio = ['inherit', 'inherit', 'inherit', 'pipe'] as const;
  const child = spawn(file, args, { cwd, env: { ...env }, stdio: [...stdio] });
  const asking = child.stdio[3];
  if (asking instanceof Duplex) answerStartCheck(asking);
  let told: NodeJS.Signals | null = null;
  const end = (signal: NodeJS.Signals): void => {
    told = signal;
    child.kill(signal);
  };
  for (const signal of SIGNALS) process.on(signal, end);
  try {
    return await new Promise<number>((done, failed) => {
      child.once('error', failed);
      child.once('exit', (code, signal) => {
        const by = told ?? signal;
        done(by === null ? (code ?? 1) : 128 + constants.signals[by]);
      });
    });
  } finally {
    for (const signal of SIGNALS) process.off(signal, end);
  }
}
