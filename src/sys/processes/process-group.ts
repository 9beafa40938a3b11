import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync } from 'node:fs';
import { Socket } from 'node:net';
import { Duplex, Readable, type Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { deferred } from '../../base/async.ts';
import { newId } from '../../base/ids.ts';
import type { Environment } from '../env.ts';
import { spawnWithCoreDumps } from './core-dumps.ts';
import { stdioWithoutInherited } from './inherited-descriptors.ts';
import type { Pipe } from './pipes.ts';
import { limitProcesses } from './process-limit.ts';
import { findProcesses, readStartTime, type ProcessQuery } from './process-table.ts';
import { sendSignal } from './send-signal.ts';
import { answerStartCheck } from './start-check.ts';

/** The default time between TERM and KILL. */
const GRACE_MS = 1800;
/** The time between TERM and KILL at the end of this process, when everything has to end within 2 s. */
const SHUTDOWN_GRACE_MS = 1500;
/** The time between TERM and KILL for processes of a dead owner. A resume has 3 s in total, including its own start. */
const LEFTOVER_GRACE_MS = 1000;
const POLL_MS = 40;
/** The maximum number of KILL rounds. Processes that start during one round (a fork bomb) are killed in the next. */
const KILL_ROUNDS = 50;
/** The environment variable by which a process that left its group is found. */
const MARK_VARIABLE = 'MUSTER_PROCESS';

/** Options for starting a process group. */
export interface SpawnGroupOptions {
  readonly cwd: string;
  /** The full environment, to which `MUSTER_PROCESS` is added. */
  readonly env: Environment;
  /**
   * True if the leader is the monitor of a sandbox: it stays outside the sandbox, waits for the processes in the
   * sandbox, and ends them when it ends itself. TERM is then sent to the processes in the sandbox instead of the
   * leader. Default: false.
   */
  readonly monitored?: boolean;
  /**
   * True if the program begins with the shell code `START_CHECK` (start-check.ts), which waits on descriptor 3
   * for an answer of this process before it goes on. Default: false.
   */
  readonly startCheck?: boolean;
  /**
   * The pipe for stdout. The program can open it by name (`/dev/stdout`). The pipe is always closed, also after an
   * error. Default: a socket, which cannot be opened by name.
   */
  readonly output?: Pipe | null;
  /** True if this process writes to the stdin of the program. Default: false, so stdin is empty. */
  readonly hasInput?: boolean;
  /**
   * The maximum number of processes and threads of the group at a time (process-limit.ts). With more, all of them are
   * killed. Default: 0, no limit.
   */
  readonly maxProcesses?: number;
  /**
   * True if the program and this process exchange bytes over descriptor `CHANNEL_DESCRIPTOR` of the program, a socket.
   * Default: false.
   */
  readonly hasChannel?: boolean;
}

/** The descriptor of the channel in a program that has one. */
export const CHANNEL_DESCRIPTOR = 4;

interface ProcessExit {
  /** The exit code; null if a signal ended the process. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/**
 * A process that leads its own group and session, together with the processes that it started. Its stdin is closed
 * unless the options say otherwise, and it inherits no other descriptors.
 */
export interface ProcessGroup {
  /** The pid of the leader; undefined if the leader could not start. */
  readonly pid: number | undefined;
  /** The entry `NAME=value` in the environment of all processes of the group. */
  readonly mark: string;
  /** The stdin of the leader; null if the options do not ask for it or the leader could not start. */
  readonly stdin: Writable | null;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** This end of the channel; null if the options do not ask for it or the leader could not start. */
  readonly channel: Duplex | null;
  /** Resolves when the leader has started. Rejects if the leader could not start. */
  readonly started: Promise<void>;
  /**
   * Resolves to true when the program asks in its start check whether it may go on, and to false if it ends before that.
   * Resolves to true at once if it has no start check. Never rejects.
   */
  readonly begun: Promise<boolean>;
  /**
   * Resolves when the leader has ended; processes that it started may still run. Rejects if the leader could not start.
   */
  readonly exited: Promise<ProcessExit>;
  /** Resolves when the group is killed because it has more processes than `maxProcesses`. Never rejects. */
  readonly limitReached: Promise<void>;
  /** Returns the pids of all running processes of the group; undefined if they cannot be determined. */
  members(): readonly number[] | undefined;
  /**
   * Ends the group with TERM, and after `graceMs` milliseconds with KILL. Resolves when no process is left, to true if
   * KILL was needed. May be called at any time and more than once.
   */
  end(options?: { readonly graceMs?: number }): Promise<boolean>;
  /**
   * Kills the rest of the group after its leader has ended. In contrast to `end`, processes that have left the group
   * go on, such as the agent that a password manager has started for its next call.
   */
  release(): void;
}

/** A query for the processes to end. */
interface EndQuery extends ProcessQuery {
  /** The pid of a monitor, which ends by itself after the processes in its sandbox and does not get TERM. */
  readonly monitor?: number;
}

type End = (graceMs: number) => Promise<unknown>;

const shutdownFunctions = new Set<End>();

/**
 * Registers a function that `killAllProcesses` calls, for a process that was not started with `spawnProcessGroup`.
 * Returns a function that removes the registration.
 */
export function registerForShutdown(end: End): () => void {
  shutdownFunctions.add(end);
  return () => shutdownFunctions.delete(end);
}

/**
 * Starts a program as the leader of a new process group, so that the program can be ended together with the processes
 * that it starts.
 */
export function spawnProcessGroup(
  file: string,
  args: readonly string[],
  options: SpawnGroupOptions,
): ProcessGroup {
  const mark = newId();
  const { child, stdout } = spawnWithOutput(options.output ?? null, (output) =>
    spawnWithCoreDumps(() =>
      spawn(file, args, {
        cwd: options.cwd,
        env: { ...options.env, [MARK_VARIABLE]: mark },
        detached: true,
        stdio: [
          options.hasInput === true ? 'pipe' : 'ignore',
          output,
          'pipe',
          ...buildExtraStdio(options),
        ],
      }),
    ),
  );
  const checkSocket = options.startCheck === true ? child.stdio[3] : undefined;
  const begun =
    checkSocket instanceof Duplex ? answerStartCheck(checkSocket) : Promise.resolve(true);
  const channel = options.hasChannel === true ? child.stdio[CHANNEL_DESCRIPTOR] : null;
  const exited = watchExit(child);
  const since = child.pid === undefined ? undefined : readStartTime(child.pid);
  const query: EndQuery = {
    marks: new Set([`${MARK_VARIABLE}=${mark}`]),
    ...(since === undefined ? {} : { since }),
    ...(child.pid === undefined ? {} : { group: child.pid }),
    ...(child.pid !== undefined && options.monitored === true ? { monitor: child.pid } : {}),
  };
  const limitReached = deferred<void>();
  const group: ProcessGroup = {
    pid: child.pid,
    mark: `${MARK_VARIABLE}=${mark}`,
    stdin: child.stdin,
    // If no descriptor is free, the child has failed and has no pipes.
    stdout: stdout ?? Readable.from([]),
    stderr: child.stderr ?? Readable.from([]),
    channel: channel instanceof Duplex ? channel : null,
    started: watchStart(child),
    begun,
    exited,
    limitReached: limitReached.promise,
    members: () => findProcesses(query),
    end: async ({ graceMs = GRACE_MS } = {}) => {
      if (child.pid === undefined) return false;
      const forced = await endProcesses(query, graceMs);
      await exited.catch(ignoreStartFailure);
      unregister();
      return forced;
    },
    release() {
      if (child.pid !== undefined) sendSignal(-child.pid, 'SIGKILL');
      unregister();
    },
  };
  const endWatch = limitProcesses(query, options.maxProcesses ?? 0, (running) => {
    limitReached.resolve();
    // They are killed at once, and what they have started meanwhile afterwards.
    for (const pid of running) sendSignal(pid, 'SIGKILL');
    void group.end({ graceMs: 0 });
  });
  const endRegistration = registerForShutdown((graceMs) => group.end({ graceMs }));
  const unregister = (): void => {
    endWatch();
    endRegistration();
  };
  exited.catch(unregister);
  return group;
}

interface ChildWithOutput {
  readonly child: ChildProcess;
  readonly stdout: Readable | null;
}

/**
 * Starts a child whose stdout is the pipe. If there is no pipe or the pipe cannot be opened, its stdout is a socket.
 */
function spawnWithOutput(
  pipe: Pipe | null,
  start: (output: 'pipe' | number) => ChildProcess,
): ChildWithOutput {
  const writeEnd = pipe === null ? null : tryOpenWriteEnd(pipe);
  if (pipe === null || writeEnd === null) {
    pipe?.close();
    const child = start('pipe');
    return { child, stdout: child.stdout };
  }
  try {
    const child = start(writeEnd);
    // Reading begins after the child has the write end. A pipe without a writer would seem to have ended.
    return { child, stdout: new Socket({ fd: pipe.readEnd, readable: true, writable: false }) };
  } catch (thrown) {
    pipe.close();
    throw thrown;
  } finally {
    closeSync(writeEnd);
  }
}

function tryOpenWriteEnd(pipe: Pipe): number | null {
  try {
    return pipe.openWriteEnd();
  } catch {
    // No descriptor is free, or the process has changed its user. The child then gets a socket, which is nearly as good.
    return null;
  }
}

/** Returns the entries of `stdio` from descriptor 3 on. */
function buildExtraStdio({
  startCheck,
  hasChannel,
}: SpawnGroupOptions): readonly ('pipe' | 'ignore' | number)[] {
  const inherited = stdioWithoutInherited();
  const [third = 'ignore', fourth = 'ignore', ...rest] = inherited;
  if (hasChannel === true) return [startCheck === true ? 'pipe' : third, 'pipe', ...rest];
  return startCheck === true ? ['pipe', fourth, ...rest] : inherited;
}

/**
 * Ends all running processes that this process started, within 2 s. Signal handlers call it before the exit. With
 * `graceMs` 0, KILL is sent to all processes before this function returns its promise.
 */
export async function killAllProcesses({ graceMs = SHUTDOWN_GRACE_MS } = {}): Promise<void> {
  await Promise.all([...shutdownFunctions].map((end) => end(graceMs)));
}

/**
 * Ends every process of this user whose environment variable `name` has one of the values: processes that a killed run
 * left behind. Resolves to true if KILL was needed. If there is no such process, resolves to false at once.
 */
export async function endMarkedProcesses(name: string, values: Iterable<string>): Promise<boolean> {
  const marks = new Set([...values].map((value) => `${name}=${value}`));
  const query = { marks };
  return marks.size > 0 && isAlive(query) && (await endProcesses(query, LEFTOVER_GRACE_MS));
}

async function endProcesses(query: EndQuery, graceMs: number): Promise<boolean> {
  const { monitor } = query;
  const signalled = new Set<number>();
  if (monitor === undefined) signalAll(query, 'SIGTERM');
  // The clock limits the wait, not the number of polls, because each poll takes time on a busy machine.
  const giveUpAt = performance.now() + graceMs;
  while (performance.now() < giveUpAt) {
    if (!isAlive(query)) return false;
    if (monitor !== undefined) terminateInside(monitor, query, signalled);
    await sleep(POLL_MS);
  }
  for (let round = 0; round < KILL_ROUNDS && isAlive(query); round += 1) {
    signalAll(query, 'SIGKILL');
    await sleep(POLL_MS);
  }
  return true;
}

function isAlive(query: ProcessQuery): boolean {
  const found = findProcesses(query);
  if (found !== undefined) return found.length > 0;
  return query.group !== undefined && sendSignal(-query.group, 0);
}

/**
 * Sends TERM to the processes in a sandbox that have not received it. It is called repeatedly, because processes may
 * appear while the sandbox is being set up, and the first process of a sandbox ignores signals. A monitor that has
 * not started any process gets the signal itself.
 */
function terminateInside(monitor: number, query: EndQuery, signalled: Set<number>): void {
  const inside = listOthers(monitor, query);
  for (const pid of inside.length === 0 ? [monitor] : inside) {
    if (!signalled.has(pid)) sendSignal(pid, 'SIGTERM');
    signalled.add(pid);
  }
}

function listOthers(monitor: number, query: ProcessQuery): readonly number[] {
  return (findProcesses(query) ?? []).filter((pid) => pid !== monitor);
}

function signalAll(query: ProcessQuery, signal: NodeJS.Signals): void {
  // The processes are listed before the first signal, because the children of a dead parent could no longer be found.
  const found = findProcesses(query) ?? [];
  if (query.group !== undefined) sendSignal(-query.group, signal);
  for (const pid of found) sendSignal(pid, signal);
}

function watchStart(child: ChildProcess): Promise<void> {
  const started = new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('spawn', resolve);
  });
  started.catch(ignoreStartFailure);
  return started;
}

function watchExit(child: ChildProcess): Promise<ProcessExit> {
  const exited = new Promise<ProcessExit>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  // A caller that awaits the promise gets the error. If there is no such caller, the error must not end the program.
  exited.catch(ignoreStartFailure);
  return exited;
}

/** Handles the rejection of a process that could not start. There is nothing to do, because no process exists. */
function ignoreStartFailure(): void {}
