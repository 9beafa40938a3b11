import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { systemErrorCode } from '../../base/errors.ts';

/** A process, distinguished from any later process with the same pid. */
export interface ProcessIdentity {
  readonly pid: number;
  /** On Linux: clock ticks since boot. On other systems: seconds since the epoch, accurate to one second. */
  readonly startTime: number;
  /** On Linux: the kernel's id of this boot. On other systems null, because `startTime` distinguishes boots. */
  readonly bootId: string | null;
  readonly host: string;
}

/** The processes of this machine, as `OwnerLocks` needs them. */
export interface ProcessPort {
  self(): ProcessIdentity;
  /** Returns the start time of a running process, undefined if it is gone, or null if it cannot be determined. */
  startTime(pid: number): number | null | undefined;
}

/** Checks whether a process has certainly ended. If this cannot be determined, the process counts as alive. */
export function isProcessGone(identity: ProcessIdentity, processes: ProcessPort): boolean {
  if (identity.bootId !== processes.self().bootId) return true;
  const startTime = processes.startTime(identity.pid);
  if (startTime === undefined) return true;
  if (startTime === null) return false;
  // Without a boot id, start times are rounded seconds, and two readings for the same process may differ by 2.
  const tolerance = identity.bootId === null ? 2 : 0;
  return Math.abs(startTime - identity.startTime) > tolerance;
}

const START_TIME_FIELD = 22;
const STATE_FIELD = 3;

/** Reads the start time in ticks from the text of `/proc/PID/stat` (proc(5)); undefined for a zombie. */
export function parseStartTime(stat: string): number | undefined {
  // The second field is the name of the program in parentheses, which may contain anything, also parentheses.
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
    // ESRCH: the process ended between open and read.
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
    // EPERM: the process runs as another user.
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
    // There is no `ps`, or the process ended meanwhile. Null makes the caller treat the process as alive.
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

/** Creates the port to the processes of this machine. */
export function createProcessPort(): ProcessPort {
  let self: ProcessIdentity | undefined;
  const port: ProcessPort = {
    self: () => (self ??= identifySelf()),
    startTime: (pid) => (port.self().bootId === null ? psStartTime(pid) : linuxStartTime(pid)),
  };
  return port;
}
