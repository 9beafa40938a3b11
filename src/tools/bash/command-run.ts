import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { deferred, onAbort } from '../../base/async.ts';
import type { CleanupResult } from '../../base/cleanup-result.ts';
import { startDeadline } from '../../base/deadlines.ts';
import { errorMessage, MusterError } from '../../base/errors.ts';
import type {
  CommandChanges,
  CommandLimits,
  CommandObservation,
  ToolContext,
} from '../../protocol/tool.ts';
import { toAbsolutePath, displayPath } from '../../sys/files/paths.ts';
import { takePipe } from '../../sys/processes/pipes.ts';
import { spawnProcessGroup, type ProcessGroup } from '../../sys/processes/process-group.ts';
import { parseMonitorReport, type MonitorReport } from '../../sys/sandbox/monitor-script.ts';
import { resolveSearchTarget } from '../search/search-scope.ts';
import {
  type RemainingProcesses,
  NO_PROCESSES,
  findRemainingProcesses,
  summarizeRemainingProcesses,
} from '../../sys/processes/remaining-processes.ts';

const SHELL_PATH = '/bin/bash';

/**
 * The time that the pipes may stay open after the shell has ended, before the processes that keep them open are
 * searched for.
 */
const PIPE_GRACE_MS = 100;
/** The base of the exit codes with which shells report signals: 128 plus the number of the signal. */
const SIGNAL_CODE_BASE = 128;

/** A command that is running. */
export interface RunningCommand {
  readonly group: ProcessGroup;
  /** The command line of the shell that runs the command. */
  readonly shell: readonly string[];
  /** The limits that the sandbox sets for the command, or null without a sandbox. */
  readonly held: CommandLimits | null;
  /** The maximum number of processes and threads of the command at a time; 0: no limit. */
  readonly maxProcesses: number;
  /** The monitor of the command, or null if it is not monitored. */
  readonly monitor: CommandMonitor | null;
  /** Resolves when the command itself runs. Rejects if the command could not start. */
  readonly started: Promise<void>;
  /** The observation of what the command changes, or null if it cannot change anything or is not observed. */
  readonly observation: CommandObservation | null;
  /** Moves the protected files that the command has created out of the workspace. */
  settle(): Promise<CleanupResult>;
  /** Frees the resources of the sandbox. */
  release(): void;
}

/**
 * The maximum number of attempts to set up a sandbox. An attempt fails if files that the sandbox must cover are deleted
 * at the same time.
 */
const MAX_ATTEMPTS = 4;

/** Starts a command in its directory. Throws MusterError if the directory does not exist or may not be entered. */
export async function startCommand(
  work: CommandInDirectory,
  context: ToolContext,
  options: { readonly serves: boolean },
): Promise<RunningCommand> {
  for (let attempt = 1; ; attempt += 1) {
    const running = await tryToStart(work, context, options);
    if (attempt === MAX_ATTEMPTS || (await hasBegun(running, context.signal))) return running;
    await running.group.end();
    running.observation?.cancel();
    running.release();
  }
}

/**
 * Returns whether a command has begun. It has not begun only if its sandbox could not be set up. Then no part of the
 * command has run.
 */
async function hasBegun({ monitor }: RunningCommand, signal: AbortSignal): Promise<boolean> {
  if (monitor === null) return true;
  const answer = deferred<boolean>();
  const removeListener = onAbort(signal, () => answer.resolve(true));
  monitor.begun.then(
    () => answer.resolve(true),
    () => answer.resolve(false),
  );
  return await answer.promise.finally(removeListener);
}

async function tryToStart(
  { command, directory }: CommandInDirectory,
  context: ToolContext,
  { serves }: { readonly serves: boolean },
): Promise<RunningCommand> {
  const { real: cwd, isFile } = resolveSearchTarget(directory, context);
  if (isFile) throw new MusterError('INVALID_PARAM', `${directory} is a file, not a directory`);
  context.changes?.prepare();
  // stdout and stderr share one pipe, so that lines arrive in the order in which they were written.
  const argv = [SHELL_PATH, '--noprofile', '--norc', '-c', `exec 2>&1; ${command}`] as const;
  const { file, args, env, held, maxProcesses, settle, release } = await context.sandbox.confine(
    argv,
    {
      cwd,
      serves,
      line: command,
    },
  );
  let observation: CommandObservation | null = null;
  try {
    const monitored = held?.monitored === true;
    const output = await takePipe();
    if (held?.access !== 'read-only') {
      observation = (await context.changes?.begin({ inBackground: serves })) ?? null;
    }
    const group = spawnProcessGroup(file, args, {
      cwd,
      env,
      monitored,
      startCheck: monitored,
      output,
      maxProcesses,
    });
    const monitor = monitored ? new CommandMonitor(group.stderr) : null;
    const started = group.started.then(() => monitor?.begun);
    // Avoid an unhandled rejection: the caller that waits for the end of the command gets the same error.
    started.catch(() => {});
    const parts = { group, shell: argv, held, maxProcesses, monitor, started, observation };
    return { ...parts, settle, release };
  } catch (thrown) {
    observation?.cancel();
    release();
    throw thrown;
  }
}

/** The way in which a command ended. */
export interface RunOutcome {
  readonly endedBy: 'itself' | 'timeout' | 'cancel' | 'output_limit' | 'process_limit';
  /** The exit code, or null if a signal ended the shell. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The processes that still ran when the shell had ended. They have been stopped, too. */
  readonly remaining: RemainingProcesses;
  /** The maximum number of processes and threads that the command was allowed to have at a time; 0: no limit. */
  readonly maxProcesses: number;
  /** Whether the command had to be ended with SIGKILL. */
  readonly forced: boolean;
  readonly startError?: string;
  /** The limits that the sandbox set for the command, or null without a sandbox. */
  readonly held: CommandLimits | null;
  /** The protected files that the command created, and their present paths. */
  readonly settled: CleanupResult;
  /** The changes by the command, or null if they are not known. */
  readonly changes: CommandChanges | null;
}

type EndedBy = RunOutcome['endedBy'];

/** The limits and the consumer of a command that is supervised. */
export interface Supervision {
  /** The timeout in milliseconds, or null for no timeout. */
  readonly timeoutMs: number | null;
  readonly signal: AbortSignal;
  /** Receives a chunk of output. Returns false if there is too much output, so that the command must be ended. */
  take(chunk: Buffer): boolean;
}

/**
 * Waits for a command and collects its output. When this returns, no process of the command runs any more, whether it
 * timed out, was cancelled, printed too much, or ended by itself.
 */
export async function supervise(
  running: RunningCommand,
  { timeoutMs, signal, take }: Supervision,
): Promise<RunOutcome> {
  const { group, shell, held, maxProcesses, monitor } = running;
  let endedBy: EndedBy = 'itself';
  let hasExited = false;
  let groupEnd: Promise<boolean> | undefined;
  const end = (why: EndedBy): void => {
    if (groupEnd !== undefined) return;
    // If the shell has already exited, it ended by itself.
    if (!hasExited) endedBy = why;
    groupEnd = group.end();
  };
  void group.limitReached.then(() => end('process_limit'));
  const closed = collect(running, (chunk) => {
    if (!take(chunk)) end('output_limit');
  });
  const deadline = timeoutMs === null ? null : startDeadline(timeoutMs, () => end('timeout'));
  const cancel = (): void => end('cancel');
  signal.addEventListener('abort', cancel);
  if (signal.aborted) cancel();
  try {
    const exit = await group.exited;
    hasExited = true;
    await Promise.race([closed, sleep(PIPE_GRACE_MS, undefined, { ref: false })]);
    const report = monitor?.report() ?? null;
    const found = report ?? (await findRemainingProcesses(group, () => groupEnd !== undefined));
    const remaining =
      groupEnd === undefined ? summarizeRemainingProcesses(found, shell) : NO_PROCESSES;
    groupEnd ??= group.end();
    const forced = await groupEnd;
    await Promise.race([closed, sleep(PIPE_GRACE_MS)]);
    const settled = await running.settle();
    const changes = await findChanges(running);
    if (report?.hasStarted === false && endedBy === 'itself')
      return createStartFailure(report.problem, running);
    // The monitor reports a signal as an exit code. If this process sent the signal, the number is not the command's
    // exit code.
    const isSignalCode =
      report !== null && endedBy !== 'itself' && (exit.code ?? 0) > SIGNAL_CODE_BASE;
    const exitCode = isSignalCode ? null : exit.code;
    const { signal: endSignal } = exit;
    const ending = { endedBy, exitCode, signal: endSignal, remaining, forced };
    return { ...ending, held, maxProcesses, settled, changes };
  } catch (thrown) {
    return createStartFailure(errorMessage(thrown), running);
  } finally {
    deadline?.cancel();
    signal.removeEventListener('abort', cancel);
    group.stdout.destroy();
    group.stderr.destroy();
    running.observation?.cancel();
    running.release();
  }
}

/** Finds what a command has changed. Returns null if it was not observed. */
async function findChanges({ observation, held }: RunningCommand): Promise<CommandChanges | null> {
  if (observation !== null) return await observation.end();
  return held?.access === 'read-only' ? { changed: [], unlisted: [] } : null;
}

function createStartFailure(
  startError: string,
  { held, maxProcesses }: Pick<RunningCommand, 'held' | 'maxProcesses'>,
): RunOutcome {
  const settled = { removed: [], fromCommits: [] };
  const noResult = {
    exitCode: null,
    signal: null,
    remaining: NO_PROCESSES,
    forced: false,
    settled,
    changes: null,
  };
  return { ...noResult, endedBy: 'itself', startError, held, maxProcesses };
}

/** Passes the output on. Resolves when no process holds the pipes open any more. */
function collect(running: RunningCommand, take: (chunk: Buffer) => void): Promise<unknown> {
  const { group, monitor } = running;
  const errors = monitor === null ? drain(group.stderr, take) : monitor.closed;
  return Promise.all([drain(group.stdout, take), errors]);
}

function drain(stream: Readable, take: (chunk: Buffer) => void): Promise<void> {
  return new Promise((resolve) => {
    stream.on('data', take);
    stream.once('close', resolve);
    // After an error there is no more output. The exit of the process says how the command ended.
    stream.once('error', () => resolve());
  });
}

/** The maximum number of characters of a report that are kept. A normal report is a few short lines. */
const MAX_REPORT_CHARACTERS = 4096;

/** Reads the reports of the process outside the sandbox that starts and watches the command inside it. */
export class CommandMonitor {
  /** Resolves when the command runs. Rejects if the command will not run. */
  readonly begun: Promise<void>;
  /** Resolves when the monitor has ended. */
  readonly closed: Promise<void>;
  private received = '';

  constructor(stderr: Readable) {
    const begun = deferred<void>();
    const closed = deferred<void>();
    this.begun = begun.promise;
    this.closed = closed.promise;
    // Avoid an unhandled rejection: the caller that waits for the end of the command gets the same error.
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
    // After an error there is no more output. The exit of the process says how the command ended.
    stderr.once('error', close);
  }

  /** Parses the part of the report that has arrived. */
  report(): MonitorReport {
    return parseMonitorReport(this.received);
  }
}

/** A command, and the directory in which it runs. */
export interface CommandInDirectory {
  /** The command as the model wrote it and the shell gets it. */
  readonly command: string;
  /** The absolute path of the directory. */
  readonly directory: string;
  /**
   * The command as a line for the working directory of the task. If the command runs in another directory, the line
   * begins with `cd`. Permission rules, people and the log use this line, so they need not handle the directory.
   */
  readonly line: string;
}

/**
 * Resolves the directory of a command.
 *
 * @param workdir the directory that the call names, relative to `cwd`; by default `cwd`
 * @param cwd the working directory of the task
 */
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
 * Returns whether `cd … &&` in front of a command applies to all of it. In doubt the result is false, and the caller
 * adds braces, which are harmless.
 */
function isAndList(command: string): boolean {
  const others = command.replaceAll('&&', '').replaceAll(/\d*[<>]&[\d-]|&>/g, '');
  return !/[;&\n]|\|\|/.test(others);
}

/**
 * Quotes a path for the shell. If the path has control characters, the displayed path is escaped, so the absolute path
 * is used instead.
 */
function quoteForShell(shown: string, directory: string): string {
  if (/^[\w@%+=:,./-]+$/.test(shown)) return shown;
  const path = shown.startsWith('"') ? directory : shown;
  return `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
