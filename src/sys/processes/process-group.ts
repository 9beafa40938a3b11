import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync } from 'node:fs';
import { Socket } from 'node:net';
import { Duplex, Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemErrorCode } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import type { Environment } from '../env.ts';
import { stdioWithoutInherited } from './inherited-descriptors.ts';
import type { Pipe } from './pipes.ts';
import { findProcesses, readStartTime, type ProcessQuery } from './process-table.ts';
import { answerStartCheck } from './start-check.ts';

/** Time between TERM and KILL. */
const END_GRACE_MS = 1800;
/** The same time if everything has to end within 2 s. */
const END_ALL_GRACE_MS = 1500;
/** The same time for processes that a dead owner left: a resume has 3 s for it, including its own start. */
const LEFTOVER_GRACE_MS = 1000;
const POLL_MS = 40;
/** A fork bomb is killed in rounds: processes that start during one round die in the next. */
const KILL_ROUNDS = 50;
/** The variable by which a process that left its group is found. */
const MARK_VARIABLE = 'MUSTER_PROCESS';

/** Options for starting a process group. */
export interface SpawnGroupOptions {
  readonly cwd: string;
  /** The full environment. The mark is added to it. */
  readonly env: Environment;
  /**
   * True if the leader stays outside, waits for the end of the processes that it started, and takes them along
   * when it ends itself (a sandbox's monitor). TERM is then sent to the processes inside. Default: false.
   */
  readonly monitored?: boolean;
  /**
   * True if the program begins with the shell code `START_CHECK` (start-check.ts), which waits on descriptor 3
   * for an answer of this process before it goes on. Default: false.
   */
  readonly startCheck?: boolean;
  /**
   * The pipe for stdout, which the program can open by name (`/dev/stdout`). It is closed in any case. Default:
   * a socket, which cannot be opened by name.
   */
  readonly output?: Pipe | null;
}

interface ProcessExit {
  /** Null if a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/**
 * A process that leads its own group and session, with the processes that it started. stdin is closed, and the
 * process inherits none of the other descriptors of this process.
 */
export interface ProcessGroup {
  /** The pid of the leader; undefined if it could not start. */
  readonly pid: number | undefined;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the process runs. Rejects if it could not start. */
  readonly started: Promise<void>;
  /**
   * Resolves when the leader has ended; processes that it started may still run. Rejects if it could not start.
   */
  readonly exited: Promise<ProcessExit>;
  /** Returns the pids of all living processes of the group; undefined if that cannot be known. */
  members(): readonly number[] | undefined;
  /**
   * Ends the group with TERM, and after `graceMs` with KILL. Resolves to whether KILL was needed, when no
   * process is left. May be called at any time and more than once.
   */
  end(options?: { readonly graceMs?: number }): Promise<boolean>;
}

/** The processes to end. */
interface EndQuery extends ProcessQuery {
  /** A process that ends by itself after the others, and is never sent TERM. */
  readonly monitor?: number;
}

type End = (graceMs: number) => Promise<unknown>;

const living = new Set<End>();

/**
 * Registers a function that `killAllProcesses` calls, for a process that was not started with
 * `spawnProcessGroup`. Returns the function that removes it.
 */
export function registerForShutdown(end: End): () => void {
  living.add(end);
  return () => living.delete(end);
}

/**
 * Starts a program as the leader of its own group, so that it can be ended together with the processes that it
 * starts.
 */
export function spawnProcessGroup(
  file: string,
  args: readonly string[],
  options: SpawnGroupOptions,
): ProcessGroup {
  const mark = newId();
  const { child, stdout } = spawnWithOutput(options.output ?? null, (output) =>
    spawn(file, args, {
      cwd: options.cwd,
      env: { ...options.env, [MARK_VARIABLE]: mark },
      detached: true,
      stdio: ['ignore', output, 'pipe', ...furtherDescriptors(options)],
    }),
  );
  const asking = options.startCheck === true ? child.stdio[3] : undefined;
  if (asking instanceof Duplex) answerStartCheck(asking);
  const exited = exitOf(child);
  const since = child.pid === undefined ? undefined : readStartTime(child.pid);
  const query: EndQuery = {
    marks: new Set([`${MARK_VARIABLE}=${mark}`]),
    ...(since === undefined ? {} : { since }),
    ...(child.pid === undefined ? {} : { group: child.pid }),
    ...(child.pid !== undefined && options.monitored === true ? { monitor: child.pid } : {}),
  };
  const group: ProcessGroup = {
    pid: child.pid,
    // If no descriptor is free, the child has failed and has no pipes.
    stdout: stdout ?? Readable.from([]),
    stderr: child.stderr ?? Readable.from([]),
    started: startOf(child),
    exited,
    members: () => findProcesses(query),
    end: async ({ graceMs = END_GRACE_MS } = {}) => {
      if (child.pid === undefined) return false;
      const forced = await endProcesses(query, graceMs);
      await exited.catch(ignoreStartFailure);
      forget();
      return forced;
    },
  };
  const forget = registerForShutdown((graceMs) => group.end({ graceMs }));
  exited.catch(forget);
  return group;
}

interface ChildWithOutput {
  readonly child: ChildProcess;
  readonly stdout: Readable | null;
}

/** Starts a child whose stdout is the pipe, or a socket if there is no pipe or it cannot be opened. */
function spawnWithOutput(
  pipe: Pipe | null,
  start: (output: 'pipe' | number) => ChildProcess,
): ChildWithOutput {
  const writeEnd = pipe === null ? null : openedWriteEnd(pipe);
  if (pipe === null || writeEnd === null) {
    pipe?.close();
    const child = start('pipe');
    return { child, stdout: child.stdout };
  }
  try {
    const child = start(writeEnd);
    // Reading begins when the child has the other end, so that the pipe always has a writer.
    return { child, stdout: new Socket({ fd: pipe.readEnd, readable: true, writable: false }) };
  } catch (thrown) {
    pipe.close();
    throw thrown;
  } finally {
    closeSync(writeEnd);
  }
}

function openedWriteEnd(pipe: Pipe): number | null {
  try {
    return pipe.openWriteEnd();
  } catch {
    // No descriptor is free, or the process runs as another user by now. A socket is nearly as good.
    return null;
  }
}

/** Returns the entries of `stdio` from 3 on. */
function furtherDescriptors({
  startCheck,
}: SpawnGroupOptions): readonly ('pipe' | 'ignore' | number)[] {
  const inherited = stdioWithoutInherited();
  return startCheck === true ? ['pipe', ...inherited.slice(1)] : inherited;
}

/**
 * Ends everything that this process started and that still runs, within 2 s: for a signal handler, before exit.
 * With `graceMs` 0, KILL has been sent to all processes when this function returns, before its promise
 * resolves.
 */
export async function killAllProcesses({ graceMs = END_ALL_GRACE_MS } = {}): Promise<void> {
  await Promise.all([...living].map((end) => end(graceMs)));
}

/**
 * Ends every process of this user that has one of these values in the variable: processes that a killed run
 * left behind. Returns at once if there is none. Resolves to whether KILL was needed.
 */
export async function endMarkedProcesses(name: string, values: Iterable<string>): Promise<boolean> {
  const marks = new Set([...values].map((value) => `${name}=${value}`));
  const query = { marks };
  return marks.size > 0 && isAlive(query) && (await endProcesses(query, LEFTOVER_GRACE_MS));
}

async function endProcesses(query: EndQuery, graceMs: number): Promise<boolean> {
  const { monitor } = query;
  const told = new Set<number>();
  if (monitor === undefined) signalAll(query, 'SIGTERM');
  // The clock limits the wait, not the number of polls, because each poll takes time on a busy machine.
  const giveUpAt = performance.now() + graceMs;
  while (performance.now() < giveUpAt) {
    if (!isAlive(query)) return false;
    if (monitor !== undefined) askInside(monitor, query, told);
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
 * Sends TERM to processes inside that have not got it yet. More of them appear while a sandbox is being set up,
 * whose first process ignores signals. A monitor that has not started anything yet gets the signal itself.
 */
function askInside(monitor: number, query: EndQuery, told: Set<number>): void {
  const inside = othersThan(monitor, query);
  for (const pid of inside.length === 0 ? [monitor] : inside) {
    if (!told.has(pid)) sendSignal(pid, 'SIGTERM');
    told.add(pid);
  }
}

function othersThan(monitor: number, query: ProcessQuery): readonly number[] {
  return (findProcesses(query) ?? []).filter((pid) => pid !== monitor);
}

function signalAll(query: ProcessQuery, signal: NodeJS.Signals): void {
  // The list is made before the first signal, because children of a dead parent could no longer be found.
  const found = findProcesses(query) ?? [];
  if (query.group !== undefined) sendSignal(-query.group, signal);
  for (const pid of found) sendSignal(pid, signal);
}

/**
 * Sends a signal to a process, or to a process group if the number is negative. Returns false if it no longer exists
 * or belongs to another user.
 */
export function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (thrown) {
    const code = systemErrorCode(thrown);
    if (code === 'ESRCH' || code === 'EPERM') return false;
    throw thrown;
  }
}

function startOf(child: ChildProcess): Promise<void> {
  const started = new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('spawn', resolve);
  });
  started.catch(ignoreStartFailure);
  return started;
}

function exitOf(child: ChildProcess): Promise<ProcessExit> {
  const exited = new Promise<ProcessExit>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  // Whoever awaits the promise gets the error. If nobody does, it must not end the program.
  exited.catch(ignoreStartFailure);
  return exited;
}

/** A process that never started leaves nothing to end. */
function ignoreStartFailure(): void {}
