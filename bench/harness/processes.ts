import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { systemErrorCode } from '../../src/base/errors.ts';

/** Whether the process runs. A process that has ended and was not collected by its parent does not. */
export function isAlive(pid: number): boolean {
  return send(pid, 0) && !isZombie(pid);
}

export function endProcess(pid: number): void {
  send(pid, 'SIGKILL');
}

/**
 * Finds the running processes whose arguments contain this text. They are searched by text because a process
 * in its own process namespace does not know the pid that it has here.
 */
export function findProcessesNaming(text: string): readonly number[] {
  const pids = existsSync('/proc/self/cmdline') ? pidsFromProc(text) : pidsFromPs(text);
  return pids.filter((pid) => pid !== process.pid && isAlive(pid));
}

function pidsFromProc(text: string): readonly number[] {
  return procIds().filter((pid) => readProc(pid, 'cmdline').includes(text));
}

function pidsFromPs(text: string): readonly number[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,args='], { encoding: 'utf8' }).split('\n');
  return lines.filter((line) => line.includes(text)).map((line) => Number.parseInt(line, 10));
}

/** Only Linux counts the CPU time of processes that have ended. */
export const CAN_MEASURE_CPU_TIME = existsSync('/proc/self/stat');

/**
 * The CPU time, in milliseconds, that a process and all processes below it have used so far, in steps of 10 ms. It
 * includes processes that have ended and were collected by their parent. Throws on systems without
 * /proc, which have no such count.
 */
export function cpuTimeOfTree(root: number): number {
  if (!CAN_MEASURE_CPU_TIME) {
    throw new Error('the CPU time of a process tree can be measured on Linux only');
  }
  const stats = procIds().flatMap((pid) => parseProcessStat(readProc(pid, 'stat')) ?? []);
  const children = Map.groupBy(stats, ({ parent }) => parent);
  const own = stats.filter(({ pid }) => pid === root);
  if (own.length === 0) throw new Error(`the process ${root} has ended`);
  const sumOf = (processes: readonly ProcessStat[]): number =>
    processes.reduce(
      (sum, { pid, ownMs, endedChildrenMs }) =>
        sum + ownMs + endedChildrenMs + sumOf(children.get(pid) ?? []),
      0,
    );
  return sumOf(own);
}

/** The CPU time, in milliseconds, of all processes below this one that have ended so far, in steps of 10 ms. */
export function cpuTimeOfEndedChildren(): number {
  return parseProcessStat(readProc(process.pid, 'stat'))?.endedChildrenMs ?? Number.NaN;
}

/** Linux counts in USER_HZ, which is 100 on all its platforms that Node supports. */
const MS_PER_TICK = 10;

interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  /** User and system time, in milliseconds. */
  readonly ownMs: number;
  /** The same of its children that have ended, with all processes below them. */
  readonly endedChildrenMs: number;
}

/** Parses `/proc/PID/stat` (see `man 5 proc`). Returns null for the empty text of a process that has ended. */
export function parseProcessStat(text: string): ProcessStat | null {
  // The name of the program, in parentheses, may contain spaces and parentheses.
  const nameEnd = text.lastIndexOf(')');
  if (nameEnd === -1) return null;
  const fields = text.slice(nameEnd + 2).split(' ');
  const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15).map(Number);
  return {
    pid: Number.parseInt(text, 10),
    parent: Number(fields[1]),
    ownMs: (user + system) * MS_PER_TICK,
    endedChildrenMs: (childUser + childSystem) * MS_PER_TICK,
  };
}

function procIds(): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** Reads a file of a process. Returns an empty text when the process has ended. */
function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch (thrown) {
    if (['ENOENT', 'ESRCH'].includes(systemErrorCode(thrown) ?? '')) return '';
    throw thrown;
  }
}

function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (thrown) {
    if (systemErrorCode(thrown) === 'ESRCH') return false;
    throw thrown;
  }
}

/** Systems without /proc cannot tell: there, such a process counts as alive until it is collected. */
function isZombie(pid: number): boolean {
  const stat = readProc(pid, 'stat');
  return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
}
