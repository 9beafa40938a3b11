import { constants } from 'node:os';
import { resolve } from 'node:path';
import { loadSandbox, workspaceRoots } from '../../../api/index.ts';
import { errorMessage } from '../../../base/errors.ts';
import type { ConfinedCommand } from '../../../sys/sandbox/sandbox.ts';
import { defineCommand, type CommandContext } from '../command.ts';
import type { DataOptions } from '../run-options.ts';
import { FILES } from '../completion-values.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** The variables about the terminal, which a command of the user may see, but no command of an agent. */
const TERMINAL = ['TERM', 'COLORTERM', 'NO_COLOR'];

interface SandboxOptions extends DataOptions {
  readonly argv: readonly [string, ...string[]];
  /** The directory to work in; null for the current one. */
  readonly cwd: string | null;
  readonly addDirs: readonly string[];
  readonly readOnly: boolean;
  /** Whether `--network` allows the network; if false, the configuration decides. */
  readonly network: boolean;
}

/** `muster sandbox` */
export const sandboxCommand = defineCommand<SandboxOptions>({
  words: 'sandbox',
  summary: "run a command in the sandbox that agents' commands run in",
  operands: [{ name: 'COMMAND…', completes: FILES }],
  flags: ['read-only', 'network', 'cwd', 'add-dir', 'data-dir'],
  examples: [
    'muster sandbox -- npm test',
    'muster sandbox --read-only -- git log --oneline -5',
    'muster sandbox --add-dir ../shared -- make all',
  ],
  parse: ({ operands: [program = '', ...rest], flags }) => ({
    argv: [program, ...rest],
    cwd: flags.text('cwd'),
    addDirs: flags.texts('add-dir'),
    dataDir: flags.text('data-dir'),
    readOnly: flags.has('read-only'),
    network: flags.has('network'),
  }),
  run: runInSandbox,
});

/**
 * Runs a command with the stdin, stdout and stderr of this process, in the same sandbox as the commands of agents.
 * Returns the exit code of the command, or 128 plus the number of the signal that ended it. If there is no sandbox,
 * nothing is run and the exit code is 1. Throws UsageError.
 */
async function runInSandbox(options: SandboxOptions, context: CommandContext): Promise<number> {
  const [{ loadConfig }, { dataDirectory }, inputs] = await Promise.all([
    import('../../../config/load.ts'),
    import('../../../config/paths.ts'),
    import('../configuration.ts'),
  ]);
  const { buildCommandEnvironment } = await import('../../../sys/processes/command-environment.ts');
  const roots = workspaceRoots(resolve(context.cwd, options.cwd ?? '.'), options.addDirs);
  const [cwd] = roots;
  // A project cannot change these settings, whether it is trusted or not.
  const { config } = await loadConfig(
    inputs.configInputs({ ...options, trustProject: false, flags: [] }, context),
  );
  const { kind, caches, commandProcesses, network, env: variables } = config.sandbox;
  const user = { environment: context.environment, home: context.home };
  const chosen = options.dataDir === null ? {} : { dataDir: options.dataDir };
  const dataDir = dataDirectory(user, { cwd: context.cwd, ...chosen });
  const settings = {
    ...user,
    kind,
    caches,
    commandProcesses,
    roots,
    dataDir,
    canWriteDataDir: true,
  };
  const { confineProgram, openConfiguredSandbox } = await loadSandbox();
  const sandbox = openConfiguredSandbox(settings);
  const state = await sandbox.state();
  if (!state.on) {
    context.err(`muster: no sandbox, so nothing was run: ${state.because}\n`);
    context.err(`muster: to get one: ${state.hint}\n`);
    return 1;
  }
  const access = options.readOnly ? 'read-only' : 'workspace';
  const env = buildCommandEnvironment(context.environment, {
    extraNames: [...TERMINAL, ...variables],
    git: { access, confined: true },
    network: network || options.network,
  });
  const confined = sandbox.confine({
    argv: options.argv,
    cwd,
    env,
    confinement: confineProgram(options.argv, {
      access,
      roots,
      network: network || options.network,
    }),
    stderr: 'command',
  });
  try {
    const code = await runToEnd(confined, {
      cwd,
      maxProcesses: sandbox.maxProcesses,
      onLimit: (text) => context.err(`muster: the command was killed: ${text}\n`),
    });
    const { removed } = await confined.settle();
    for (const entry of removed) {
      const outcome =
        entry.keptAt === null
          ? `${entry.path} could not be removed: ${entry.problem}`
          : `${entry.path} was moved to ${entry.keptAt}`;
      context.err(`muster: commands must not create protected files: ${outcome}\n`);
    }
    return code;
  } catch (thrown) {
    context.err(`muster: the sandbox failed: ${errorMessage(thrown)}\n`);
    return 1;
  } finally {
    confined.release();
  }
}

interface RunSettings {
  readonly cwd: string;
  /** The maximum number of processes and threads of the command at a time; 0: no limit. */
  readonly maxProcesses: number;
  /** Receives the reason, as a clause, if the command is killed because it has too many processes. */
  onLimit(text: string): void;
}

/** Runs a command to its end; a signal to this process ends the command first. */
async function runToEnd(
  { file, args, env }: ConfinedCommand,
  { cwd, maxProcesses, onLimit }: RunSettings,
): Promise<number> {
  const { spawn } = await import('node:child_process');
  const { Duplex } = await import('node:stream');
  const { answerStartCheck } = await import('../../../sys/processes/start-check.ts');
  const { spawnWithCoreDumps } = await import('../../../sys/processes/core-dumps.ts');
  const { describeProcessLimit, limitProcesses } =
    await import('../../../sys/processes/process-limit.ts');
  const stdio = ['inherit', 'inherit', 'inherit', 'pipe'] as const;
  const child = spawnWithCoreDumps(() =>
    spawn(file, args, { cwd, env: { ...env }, stdio: [...stdio] }),
  );
  const startCheck = child.stdio[3];
  if (startCheck instanceof Duplex) answerStartCheck(startCheck);
  let received: NodeJS.Signals | null = null;
  const end = (signal: NodeJS.Signals): void => {
    received = signal;
    child.kill(signal);
  };
  for (const signal of SIGNALS) process.on(signal, end);
  const family = {
    marks: new Set<string>(),
    ...(child.pid === undefined ? {} : { group: child.pid }),
  };
  const endWatch = limitProcesses(family, maxProcesses, () => {
    onLimit(describeProcessLimit(maxProcesses));
    // Everything in the sandbox ends with it.
    child.kill('SIGKILL');
  });
  try {
    return await new Promise<number>((done, failed) => {
      child.once('error', failed);
      child.once('exit', (code, signal) => {
        const by = received ?? signal;
        done(by === null ? (code ?? 1) : 128 + constants.signals[by]);
      });
    });
  } finally {
    endWatch();
    for (const signal of SIGNALS) process.off(signal, end);
  }
}
