import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { deferred, onAbort } from '../../base/async.ts';
import type { CleanupResult } from '../../base/cleanup-result.ts';
import { startDeadline } from '../../base/deadlines.ts';
import { errorMessage, MusterError } from '../../base/errors.ts';
import { sanitizeForTerminal } from '../../base/terminal-text.ts';
import { plural } from '../../base/text.ts';
import type { CommandLimits, ToolContext } from '../../protocol/tool.ts';
import { toAbsolutePath, displayPath } from '../../sys/files/paths.ts';
import { takePipe } from '../../sys/processes/pipes.ts';
import { spawnProcessGroup, type ProcessGroup } from '../../sys/processes/process-group.ts';
import { describeProcesses, type RunningProcess } from '../../sys/processes/process-table.ts';
import { parseMonitorReport, type MonitorReport } from '../../sys/sandbox/monitor-script.ts';
import { resolveSearchTarget } from '../search/search-scope.ts';

const SHELL = '/bin/bash';

/** How long the pipes may stay open after the shell has ended, before the processes that hold them are looked for. */
const PIPE_GRACE_MS = 100;
/** Shells report a signal as an exit code above this one. */
const SIGNAL_CODES = 128;

/** A command that is running. */
export interface RunningCommand {
  readonly group: ProcessGroup;
  /** The arguments of its shell. */
  readonly shell: readonly string[];
  /** The limits that its sandbox sets; null without a sandbox. */
  readonly held: CommandLimits | null;
  /** Null when the command is not monitored. */
  readonly monitor: CommandMonitor | null;
  /** Resolves once the command itself runs. Rejects when it could not start. */
  readonly started: Promise<void>;
  /** Moves away the protected files that it has made. */
  settle(): Promise<CleanupResult>;
  release(): void;
}

/** How often a sandbox is set up. It fails when files that it is to cover are deleted meanwhile. */
const MAX_ATTEMPTS = 4;

/** Starts a command in its directory. Throws MusterError when the directory does not exist or may not be entered. */
export async function startCommand(
  work: CommandInDirectory,
  context: ToolContext,
  options: { readonly serves: boolean },
): Promise<RunningCommand> {
  for (let tries = 1; ; tries += 1) {
    const running = await tryToStart(work, context, options);
    if (tries === MAX_ATTEMPTS || (await hasBegun(running, context.signal))) return running;
    await running.group.end();
    running.release();
  }
}

/** Whether a command has begun. False only when its sandbox could not be set up, so that nothing of it has run. */
async function hasBegun({ monitor }: RunningCommand, signal: AbortSignal): Promise<boolean> {
  if (monitor === null) return true;
  const answer = deferred<boolean>();
  const forget = onAbort(signal, () => answer.resolve(true));
  monitor.begun.then(
    () => answer.resolve(true),
    () => answer.resolve(false),
  );
  return await answer.promise.finally(forget);
}

async function tryToStart(
  { command, directory }: CommandInDirectory,
  context: ToolContext,
  { serves }: { readonly serves: boolean },
): Promise<RunningCommand> {
  const { real: cwd, isFile } = resolveSearchTarget(directory, context);
  if (isFile) throw new MusterError('INVALID_PARAM', `${directory} is a file, not a directory`);
  // stdout and stderr share one pipe, so that lines arrive in the order in which they were written.
  const argv = [SHELL, '--noprofile', '--norc', '-c', `exec 2>&1; ${command}`] as const;
  const { file, args, env, held, settle, release } = await context.sandbox.confine(argv, {
    cwd,
    serves,
    line: command,
  });
  try {
    const monitored = held?.monitored === true;
    const output = await takePipe();
    const group = spawnProcessGroup(file, args, {
      cwd,
      env,
      monitored,
      startCheck: monitored,
      output,
    });
    const monitor = monitored ? new CommandMonitor(group.stderr) : null;
    const started = group.started.then(() => monitor?.begun);
    // The error also reaches whoever waits for the end of the command.
    started.catch(() => {});
    return { group, shell: argv, held, monitor, started, settle, release };
  } catch (thrown) {
    release();
    throw thrown;
  }
}

/** How a command ended. */
export interface RunOutcome {
  readonly endedBy: 'itself' | 'timeout' | 'cancel' | 'output_limit';
  /** Null when a signal ended the shell. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Processes that still ran when the shell had ended. They were stopped, too. */
  readonly remaining: RemainingProcesses;
  /** Whether it had to be ended with SIGKILL. */
  readonly forced: boolean;
  readonly startError?: string;
  /** The limits that its sandbox set; null without a sandbox. */
  readonly held: CommandLimits | null;
  /** The protected files that it made, and where they are now. */
  readonly settled: CleanupResult;
}

type EndedBy = RunOutcome['endedBy'];

/** The limits and the consumer of a command that is supervised. */
export interface Supervision {
  /** Timeout in milliseconds; null for none. */
  readonly timeoutMs: number | null;
  readonly signal: AbortSignal;
  /** Takes a chunk of output. Returns false when there is too much, and the command is ended. */
  take(chunk: Buffer): boolean;
}

/**
 * Waits for a command and collects its output. No process of the command is left when this returns, whether it timed
 * out, was cancelled, printed too much, or its shell ended by itself.
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
    // Once the shell has exited, this is no longer what ended it.
    if (!hasExited) endedBy = why;
    ending = group.end();
  };
  const closed = collect(running, (chunk) => {
    if (!take(chunk)) end('output_limit');
  });
  const limit = timeoutMs === null ? null : startDeadline(timeoutMs, () => end('timeout'));
  const cancel = (): void => end('cancel');
  signal.addEventListener('abort', cancel);
  if (signal.aborted) cancel();
  try {
    const exit = await group.exited;
    hasExited = true;
    await Promise.race([closed, sleep(PIPE_GRACE_MS, undefined, { ref: false })]);
    const report = monitor?.report() ?? null;
    const found = report ?? (await findRemainingProcesses(group, () => ending !== undefined));
    const remaining =
      ending === undefined ? summarizeRemainingProcesses(found, shell) : NO_PROCESSES;
    ending ??= group.end();
    const forced = await ending;
    await Promise.race([closed, sleep(PIPE_GRACE_MS)]);
    const settled = await running.settle();
    if (report?.hasStarted === false && endedBy === 'itself')
      return notStarted(report.problem, held);
    // The monitor reports a signal as a number. When the signal came from here, that number is not an exit code.
    const byNumber = report !== null && endedBy !== 'itself' && (exit.code ?? 0) > SIGNAL_CODES;
    const exitCode = byNumber ? null : exit.code;
    return { endedBy, exitCode, signal: exit.signal, remaining, forced, held, settled };
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
  const nothing = { exitCode: null, signal: null, remaining: NO_PROCESSES, forced: false, settled };
  return { ...nothing, endedBy: 'itself', startError, held };
}

/** Resolves when no process holds the pipes any more. */
function collect(running: RunningCommand, take: (chunk: Buffer) => void): Promise<unknown> {
  const { group, monitor } = running;
  const errors = monitor === null ? drain(group.stderr, take) : monitor.closed;
  return Promise.all([drain(group.stdout, take), errors]);
}

function drain(stream: Readable, take: (chunk: Buffer) => void): Promise<void> {
  return new Promise((resolve) => {
    stream.on('data', take);
    stream.once('close', resolve);
    // After an error no more output comes; the exit says how the command ended.
    stream.once('error', () => resolve());
  });
}

/** The maximum number of characters that are kept of what the monitor writes; a report is a few short lines. */
const MAX_REPORT_CHARACTERS = 4096;

/** Reads the reports of the process outside the sandbox that starts and watches the command inside it. */
export class CommandMonitor {
  /** Resolves once the command runs; rejects when it will not run. */
  readonly begun: Promise<void>;
  /** Resolves when the monitor has ended. */
  readonly closed: Promise<void>;
  private received = '';

  constructor(stderr: Readable) {
    const begun = deferred<void>();
    const closed = deferred<void>();
    this.begun = begun.promise;
    this.closed = closed.promise;
    // The error also reaches whoever waits for the end of the command.
    this.begun.catch(() => {});
    stderr.on('data', (chunk: Buffer) => {
      this.received = (this.received + chunk.toString('utf8')).slice(0, MAX_REPORT_CHARACTERS);
      if (this.report().hasStarted) begun.resolve();
    });
    const close = (): void => {
      begun.reject(new Error(this.report().problem));
      closed.resolve();
    };
    stderr.once('close', close);
    // After an error no more output comes; the exit says how the command ended.
    stderr.once('error', close);
  }

  /** The report as far as it has come. */
  report(): MonitorReport {
    return parseMonitorReport(this.received);
  }
}

/** How long processes that are ending by themselves may take before they count as remaining. */
const GRACE_MS = 300;
const POLL_MS = 50;
/** The maximum number of command lines that the note names. */
const MAX_NAMED = 4;
const NAME_CHARS = 80;

/** Processes of a command that were found when its shell had ended. */
interface FoundProcesses {
  readonly remaining: number;
  /** Details of the first of them. */
  readonly processes: readonly RunningProcess[];
}

/** Processes that a command left running in the background. */
interface RemainingProcesses {
  readonly count: number;
  /** The command lines of the first of them. */
  readonly commands: readonly string[];
}

export const NO_PROCESSES: RemainingProcesses = { count: 0, commands: [] };

/**
 * Finds the processes of a group that do not end by themselves soon. Stops waiting once `isEnding` says that they are
 * being stopped.
 */
async function findRemainingProcesses(
  group: Pick<ProcessGroup, 'members'>,
  isEnding: () => boolean,
): Promise<FoundProcesses> {
  const giveUpAt = performance.now() + GRACE_MS;
  let pids = group.members() ?? [];
  while (pids.length > 0 && performance.now() < giveUpAt && !isEnding()) {
    await sleep(POLL_MS);
    pids = group.members() ?? [];
  }
  const processes = describeProcesses(pids);
  return { remaining: processes.length, processes };
}

/**
 * Picks the processes that belong to the user's command. A subshell that only waits for its children is not counted,
 * because its children are; it is recognized by `shell`, the arguments of the shell.
 */
export function summarizeRemainingProcesses(
  { remaining, processes }: FoundProcesses,
  shell: readonly string[],
): RemainingProcesses {
  const own = oneLine(shell.join(' '));
  const parents = new Set(processes.map(({ parent }) => parent));
  const isShell = ({ command }: RunningProcess): boolean =>
    command !== '' && own.startsWith(oneLine(command));
  const named = processes.filter((each) => !(isShell(each) && parents.has(each.pid)));
  return {
    count: remaining - (processes.length - named.length),
    commands: named.map((each) => (isShell(each) ? 'a subshell' : oneLine(each.command))),
  };
}

/** Escapes control characters, and characters that hide or reverse text. */
function oneLine(text: string): string {
  // The last character may have been cut.
  const complete = text.replace(/\uFFFD+$/, '');
  return sanitizeForTerminal(complete.replaceAll(/\s+/g, ' ').trim(), 'exact');
}

/** The note on processes that still ran when the shell had ended; null when there were none. */
export function describeRemainingProcesses({ count, commands }: RemainingProcesses): string | null {
  if (count === 0) return null;
  const were = plural(count, 'process was', 'processes were');
  const known = commands.filter((command) => command !== '').slice(0, MAX_NAMED);
  const names = known.map((command) => JSON.stringify(cut(command)));
  if (names.length > 0 && names.length < count) names.push('…');
  const which = names.length === 0 ? '' : `: ${names.join(', ')}`;
  return `[${were} still running in the background and stopped with the command${which}]`;
}

function cut(command: string): string {
  return command.length <= NAME_CHARS ? command : `${command.slice(0, NAME_CHARS)}…`;
}

/** A command and the directory in which it runs. */
export interface CommandInDirectory {
  /** The command as the model wrote it and the shell gets it. */
  readonly command: string;
  /** The absolute path of the directory. */
  readonly directory: string;
  /**
   * The command as a line for the working directory of the task, with a `cd` in front where the command runs in
   * another one. Permission rules, people and the log get this line, so that they need not handle the directory.
   */
  readonly line: string;
}

/** Resolves the directory of a command. `workdir` and the result are relative to `cwd`, the directory of the task. */
export function resolveCommandDirectory(
  command: string,
  workdir: string | undefined,
  cwd: string,
): CommandInDirectory {
  const directory = workdir === undefined ? cwd : toAbsolutePath(workdir, cwd);
  if (directory === cwd) return { command, directory, line: command };
  const shown = displayPath(directory, cwd);
  const path = shown.startsWith('-') ? `./${shown}` : shown;
  const rest = isAndList(command) ? command : `{\n${command}\n}`;
  return { command, directory, line: `cd ${quoteForShell(path, directory)} && ${rest}` };
}

/**
 * Whether `cd … &&` in front applies to all of the command. When in doubt it does not, and harmless braces are added.
 */
function isAndList(command: string): boolean {
  const others = command.replaceAll('&&', '').replaceAll(/\d*[<>]&[\d-]|&>/g, '');
  return !/[;&\n]|\|\|/.test(others);
}

/** Quotes a path for the shell. A path with control characters was escaped for display, so the original is used. */
function quoteForShell(shown: string, directory: string): string {
  if (/^[\w@%+=:,./-]+$/.test(shown)) return shown;
  const path = shown.startsWith('"') ? directory : shown;
  return `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
