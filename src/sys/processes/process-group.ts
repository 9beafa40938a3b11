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

/** From asking (TERM) to forcing (KILL). */
const END_GRACE_MS = 1800;
/** The same when everything has to go within 2 s. */
const END_ALL_GRACE_MS = 1500;
/** The same for what a dead owner left: a resume has 3 s for it, its own start included. */
const LEFTOVER_GRACE_MS = 1000;
const POLL_MS = 40;
/** A fork bomb is killed in rounds: what was born during one round dies in the next. */
const KILL_ROUNDS = 50;
/** The variable by which a process that left its group is still found. */
const MARK_VARIABLE = 'MUSTER_PROCESS';

export interface SpawnGroupOptions {
  readonly cwd: string;
  /** The whole environment; the mark is added. */
  readonly env: Environment;
  /**
   * The leader stands outside of what it started, waits for its end, and takes all of it along when it
   * ends itself (a sandbox's monitor): asked to end are those inside. Default false.
   */
  readonly monitored?: boolean;
  /**
   * Whether the program begins with the shell code `START_CHECK` (start-check.ts), which waits on descriptor 3 for
   * an answer of this process before the rest runs. Default false.
   */
  readonly startCheck?: boolean;
  /**
   * Where stdout goes, so that the program can open it by name (`/dev/stdout`). It is closed in any case. Default: a
   * socket, with which that fails.
   */
  readonly output?: Pipe | null;
}

interface ProcessExit {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/**
 * A process, leader of its own group and session, with what it started. stdin is closed, and of the other
 * descriptors of this process it has none.
 */
export interface ProcessGroup {
  /** Of its leader; undefined when it could not start. */
  readonly pid: number | undefined;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Once it runs. Rejects when it could not start. */
  readonly started: Promise<void>;
  /** When the leader has ended; what it started may live on. Rejects when it could not start. */
  readonly exited: Promise<ProcessExit>;
  /** The pids of it and all it started that are alive; undefined where that cannot be known. */
  members(): readonly number[] | undefined;
  /**
   * End it and all it started: TERM, after `graceMs` KILL. Resolves when nothing is left. True: it
   * took KILL. May be called at any time and more than once.
   */
  end(options?: { readonly graceMs?: number }): Promise<boolean>;
}

/** Whom to end. */
interface EndQuery extends ProcessQuery {
  /** Ends by itself once the others have, and is only ever killed. */
  readonly monitor?: number;
}

type End = (graceMs: number) => Promise<unknown>;

const living = new Set<End>();

/**
 * Have `end` called by `killAllProcesses`, until the function that is returned is called: for a
 * process that was not started with `spawnGroup`.
 */
export function registerForShutdown(end: End): () => void {
  living.add(end);
  return () => living.delete(end);
}

/** Start a program as leader of its own group, so that it and what it starts can be ended together. */
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
    // Out of descriptors there is a failed child without pipes.
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

/** Starts a child whose stdout is the pipe; where that cannot be opened, or there is none, it is a socket. */
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
    // It reads only once the child has the other end, so that it never sees a pipe without a writer before.
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
    // Out of descriptors, or another user by now: a socket is nearly as good.
    return null;
  }
}

/** Entries of `stdio` from 3 on. */
function furtherDescriptors({
  startCheck,
}: SpawnGroupOptions): readonly ('pipe' | 'ignore' | number)[] {
  const inherited = stdioWithoutInherited();
  return startCheck === true ? ['pipe', ...inherited.slice(1)] : inherited;
}

/**
 * End everything that this process started and that is not yet settled, within 2 s: for a signal
 * handler, before exit. With `graceMs` 0 all of them have been sent KILL when this returns, whether
 * its promise is awaited or not.
 */
export async function killAllProcesses({ graceMs = END_ALL_GRACE_MS } = {}): Promise<void> {
  await Promise.all([...living].map((end) => end(graceMs)));
}

/**
 * End every process on this machine (of this user) that carries one of these values in the variable:
 * for what a run that was killed left behind. At once when there is none. True: it took KILL.
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
  // By the clock and not by the number of polls: looking takes time of its own on a busy machine.
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
 * TERM to those inside that were not told yet: more of them come while a sandbox is being set up, and
 * its first process is deaf. One that has not yet started anything is told itself.
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
  // The list is made before the first signal: a parent that dies would cut its children off the tree.
  const found = findProcesses(query) ?? [];
  if (query.group !== undefined) sendSignal(-query.group, signal);
  for (const pid of found) sendSignal(pid, signal);
}

/** False when nobody is there (any more) or it is not ours to signal. */
function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
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
  // Who awaits it hears of the failure; without anybody it must not end the program.
  exited.catch(ignoreStartFailure);
  return exited;
}

/** A process that never started leaves nothing to end. */
function ignoreStartFailure(): void {}
