import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { onAbort } from '../base/async.ts';
import type { CleanupResult } from '../base/cleanup-result.ts';
import { errorMessage } from '../base/errors.ts';
import { listNamesOnOneLine } from '../base/terminal-text.ts';
import type { HookSource, HookTask } from '../protocol/hook.ts';
import type { Environment } from '../sys/env.ts';
import { statIfPresent } from '../sys/files/path-lookup.ts';
import { buildCommandEnvironment, TASK_VARIABLE } from '../sys/processes/command-environment.ts';
import { isExecutable } from '../sys/processes/find-program.ts';
import { guardAgainstOrphans } from '../sys/processes/orphan-guard.ts';
import {
  describeRemainingProcesses,
  findRemainingProcesses,
  summarizeRemainingProcesses,
} from '../sys/processes/remaining-processes.ts';
import {
  spawnProcessGroup,
  type ProcessGroup,
  type SpawnGroupOptions,
} from '../sys/processes/process-group.ts';
import type { CommandToConfine, ConfinedCommand } from '../sys/sandbox/sandbox.ts';
import { holdsCredentials, isSecretVariable } from '../sys/secret-variables.ts';
import type { CommandAction } from './hook-definition.ts';
import { STOPPED_HOOK, type HookEnd } from './read-hook-output.ts';

/** The maximum size of what a hook prints, for stdout and for stderr (`hook_output_bytes`). */
const MAX_OUTPUT_BYTES = 1024 * 1024;
/** The time after the end of a command in which its last output is read. */
const LAST_OUTPUT_MS = 250;
/** The time between TERM and KILL. */
const GRACE_MS = 1_000;

/** The command of a hook before a sandbox is built around it. */
export type HookCommand = Pick<CommandToConfine, 'argv' | 'cwd' | 'env'>;

/** Builds the sandbox of the task around the command of a hook. The stderr must be that of the command. */
export type ConfineHook = (command: HookCommand, task: HookTask) => Promise<ConfinedCommand>;

/**
 * The sandbox around hooks. `unconfined`: there is none, and hooks run like programs of the user. `refused`: there is none, and
 * hooks do not run.
 */
export type HookConfinement = ConfineHook | 'unconfined' | 'refused';

/** The conditions under which commands of hooks run. */
export interface CommandHookSettings {
  /** The environment of Muster. */
  readonly env: Environment;
  /** The directory that hooks get as `CLAUDE_PROJECT_DIR`. Absolute. */
  readonly projectDirectory: string;
  /** Returns how hooks run that are not from the user's own settings. Called only for such hooks. */
  readonly confinement: () => Promise<HookConfinement>;
  /** True if the hooks of the user's own settings run like the others. */
  readonly confinesOwn: boolean;
}

/** One run of a command. */
export interface CommandHookRun {
  readonly action: CommandAction;
  readonly source: HookSource;
  readonly task: HookTask;
  /** The JSON for stdin. */
  readonly input: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Runs the command of a hook in the directory of its task. No process that it starts outlives it. Never rejects because
 * of the command.
 */
export async function runCommandHook(
  run: CommandHookRun,
  settings: CommandHookSettings,
): Promise<HookEnd> {
  const { task, source } = run;
  const isOwn = source.kind === 'user' && !settings.confinesOwn;
  const confinement = isOwn ? 'unconfined' : await settings.confinement();
  if (confinement === 'refused') {
    const reason = `it was not run: there is no sandbox, and this hook of a ${source.kind} runs only in it`;
    return { kind: 'failed', reason };
  }
  const confine = confinement === 'unconfined' ? null : confinement;
  const command: HookCommand = {
    argv: buildArguments(run, settings.projectDirectory),
    cwd: task.cwd,
    env: buildHookEnvironment(run, settings, { isConfined: confine !== null }),
  };
  let confined: ConfinedCommand | null = null;
  try {
    confined = await (confine?.(command, task) ?? null);
    const end = await runProgram(toProgram(command, confined), run);
    return addQuarantine(end, await confined?.settle());
  } catch (thrown) {
    return { kind: 'failed', reason: describeStartError(thrown, task.cwd) };
  } finally {
    confined?.release();
  }
}

/** Only a start without a shell needs the name of the directory filled in: a shell reads it from the environment. */
function buildArguments(
  { action: { command, args }, source: { pluginRoot } }: CommandHookRun,
  projectDirectory: string,
): HookCommand['argv'] {
  if (args === undefined) return [...findShell(), '-c', command];
  const fill = (text: string): string =>
    text
      .replaceAll('${CLAUDE_PROJECT_DIR}', () => projectDirectory)
      .replaceAll('${CLAUDE_PLUGIN_ROOT}', (variable) => pluginRoot ?? variable);
  return [fill(command), ...args.map(fill)];
}

/** Bash reads `~/.bashrc` if its stdin is a socket, as it is here, unless it is told not to. */
function findShell(): readonly [string, ...string[]] {
  return isExecutable('/bin/bash') ? ['/bin/bash', '--norc'] : ['/bin/sh'];
}

/**
 * Builds the environment of a hook. A hook of the user sees the variables of the user except secrets, because it may
 * need the screen or the bus of the desktop. Every other hook sees what a command of a task sees.
 */
function buildHookEnvironment(
  { source, task }: CommandHookRun,
  { env, projectDirectory }: CommandHookSettings,
  { isConfined }: { readonly isConfined: boolean },
): Environment {
  const base =
    source.kind === 'user'
      ? withoutSecrets(env)
      : buildCommandEnvironment(env, {
          git: { access: 'workspace', confined: isConfined },
        });
  return {
    ...base,
    CLAUDE_PROJECT_DIR: projectDirectory,
    MUSTER_PROJECT_DIR: projectDirectory,
    ...(source.pluginRoot === undefined ? {} : { CLAUDE_PLUGIN_ROOT: source.pluginRoot }),
    [TASK_VARIABLE]: task.id,
  };
}

function withoutSecrets(env: Environment): Environment {
  return Object.fromEntries(
    Object.entries(env).filter(
      ([name, value]) => !isSecretVariable(name) && !holdsCredentials(value ?? ''),
    ),
  );
}

interface HookProgram extends SpawnGroupOptions {
  readonly file: string;
  readonly args: readonly string[];
}

function toProgram({ argv, cwd, env }: HookCommand, confined: ConfinedCommand | null): HookProgram {
  const [file, ...args] = argv;
  if (confined === null) return { file, args, cwd, env, hasInput: true };
  const { monitored, startCheck } = confined;
  const { file: outer, args: outerArgs, env: outerEnv } = confined;
  return {
    file: outer,
    args: outerArgs,
    env: outerEnv,
    cwd,
    monitored,
    startCheck,
    hasInput: true,
  };
}

async function runProgram(
  { file, args, ...options }: HookProgram,
  { input, timeoutMs, signal }: CommandHookRun,
): Promise<HookEnd> {
  if (signal.aborted) return STOPPED_HOOK;
  const group = spawnProcessGroup(file, args, options);
  await group.started;
  const stopGuarding = guardAgainstOrphans(group);
  try {
    const end = await watchProgram(group, { input, timeoutMs, signal });
    if (end.kind !== 'exited') return end;
    const found = await findRemainingProcesses(group, () => signal.aborted);
    const notice = describeRemainingProcesses(summarizeRemainingProcesses(found, [file, ...args]));
    return notice === null ? end : { ...end, notice };
  } finally {
    // Processes that the command has left behind end as well, also those that have left its group.
    await group.end({ graceMs: GRACE_MS });
    stopGuarding();
  }
}

async function watchProgram(
  group: ProcessGroup,
  { input, timeoutMs, signal }: Pick<CommandHookRun, 'input' | 'timeoutMs' | 'signal'>,
): Promise<HookEnd> {
  let ending: HookEnd | null = null;
  const stop = (end: HookEnd): void => {
    ending ??= end;
    void group.end({ graceMs: GRACE_MS });
  };
  const timer = setTimeout(() => stop({ kind: 'timeout', limitMs: timeoutMs }), timeoutMs);
  const removeListener = onAbort(signal, () => stop(STOPPED_HOOK));
  const printedTooMuch = (): void =>
    stop({
      kind: 'failed',
      reason: `it printed more than ${MAX_OUTPUT_BYTES} bytes and was ended (limit hook_output_bytes = ${MAX_OUTPUT_BYTES})`,
    });
  // A command that does not read its input closes it early, which is no error.
  group.stdin?.on('error', () => {});
  group.stdin?.end(input);
  const stdout = collectOutput(group.stdout, printedTooMuch);
  const stderr = collectOutput(group.stderr, printedTooMuch);
  try {
    const { code, signal: endSignal } = await group.exited;
    clearTimeout(timer);
    // A process that the command has left behind may keep the pipes open.
    await Promise.race([Promise.all([stdout.ended, stderr.ended]), sleep(LAST_OUTPUT_MS)]);
    return (
      ending ?? {
        kind: 'exited',
        code,
        signal: endSignal,
        stdout: stdout.read(),
        stderr: stderr.read(),
      }
    );
  } finally {
    clearTimeout(timer);
    removeListener();
  }
}

interface CollectedOutput {
  readonly ended: Promise<void>;
  /** Returns the text so far. Bytes that are not UTF-8 are replaced. */
  read(): string;
}

function collectOutput(stream: Readable, onTooMuch: () => void): CollectedOutput {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= MAX_OUTPUT_BYTES) {
      chunks.push(chunk);
      return;
    }
    stream.pause();
    onTooMuch();
  });
  const ended = new Promise<void>((resolve) => {
    stream.once('end', resolve);
    stream.once('close', resolve);
    // The end of the command says what happened.
    stream.on('error', () => resolve());
  });
  return { ended, read: () => Buffer.concat(chunks).toString('utf8') };
}

/** Adds to the end of a command which files it has created under protected names. */
function addQuarantine(end: HookEnd, cleanup: CleanupResult | undefined): HookEnd {
  if (end.kind !== 'exited' || cleanup === undefined) return end;
  const paths = [...cleanup.removed.map(({ path }) => path), ...(cleanup.putBack ?? [])];
  if (paths.length === 0) return end;
  const notice = `it changed protected files, which was undone: ${listNamesOnOneLine(paths, 3)}`;
  return { ...end, notice: end.notice === undefined ? notice : `${notice}; ${end.notice}` };
}

function describeStartError(thrown: unknown, cwd: string): string {
  if (statIfPresent(cwd)?.isDirectory() !== true)
    return `it could not start: the directory ${cwd} of its task does not exist`;
  return `it could not start: ${errorMessage(thrown)}`;
}
