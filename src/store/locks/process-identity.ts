import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { systemErrorCode } from '../../base/errors.ts';

/** A process, told from any later one that gets its number. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Linux: clock ticks from boot; elsewhere seconds since the epoch, give or take one. */
  readonly startTime: number;
  /** Linux: the kernel's id of this boot; elsewhere null, and `startTime` tells boots apart. */
  readonly bootId: string | null;
  readonly host: string;
}

/** The processes of this machine, as the owner lock asks for them. */
export interface ProcessPort {
  self(): ProcessIdentity;
  /** Start time of a running process; undefined when it is gone, null when it can't be found out. */
  startTime(pid: number): number | null | undefined;
}

/** Whether the process that left `owner` behind is surely gone. In doubt it lives. */
export function isProcessGone(owner: ProcessIdentity, processes: ProcessPort): boolean {
  if (owner.bootId !== processes.self().bootId) return true;
  const startTime = processes.startTime(owner.pid);
  if (startTime === undefined) return true;
  if (startTime === null) return false;
  // Where start times are rounded seconds, two readings of one process may differ by that.
  const tolerance = owner.bootId === null ? 2 : 0;
  return Math.abs(startTime - owner.startTime) > tolerance;
}

const START_TIME_FIELD = 22;
const STATE_FIELD = 3;

/** Start time in ticks from the text of `/proc/PID/stat` (proc(5)); undefined for a zombie. */
export function parseStartTime(stat: string): number | undefined {
  // The second field is the program's name in brackets, and may hold anything, brackets included.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = fields[STATE_FIELD - STATE_FIELD];
  const startTime = Number(fields[START_TIME_FIELD - STATE_FIELD]);
  return state === 'Z' || state === 'X' || !Number.isFinite(startTime) ? undefined : startTime;
}

function readProc(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (thrown) {
    const code = systemErrorCode(thrown);
    // ESRCH: it ended between open and read.
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'ENOTDIR') return undefined;
    throw thrown;
  }
}

function linuxStartTime(pid: number): number | undefined {
  const stat = readProc(`/proc/${pid}/stat`);
  return stat === undefined ? undefined : parseStartTime(stat);
}

function psStartTime(pid: number): number | null | undefined {
  try {
    process.kill(pid, 0);
  } catch (thrown) {
    if (systemErrorCode(thrown) === 'ESRCH') return undefined;
    // EPERM: it lives, under somebody else's name.
  }
  try {
    const printed = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      env: { LC_ALL: 'C', PATH: '/bin:/usr/bin' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const seconds = Date.parse(printed.trim()) / 1000;
    return Number.isFinite(seconds) ? seconds : null;
  } catch {
    // No `ps`, or it ended meanwhile: not known, so the caller takes it for alive.
    return null;
  }
}

function identifySelf(): ProcessIdentity {
  const bootId = readProc('/proc/sys/kernel/random/boot_id')?.trim() ?? null;
  const startTime =
    (bootId === null ? undefined : linuxStartTime(process.pid)) ??
    Math.round(performance.timeOrigin / 1000);
  return { pid: process.pid, startTime, bootId, host: hostname() };
}

/** The processes of this machine. */
export function createProcessPort(): ProcessPort {
  let self: ProcessIdentity | undefined;
  const port: ProcessPort = {
    self: () => (self ??= identifySelf()),
    startTime: (pid) => (port.self().bootId === null ? psStartTime(pid) : linuxStartTime(pid)),
  };
  return port;
}
