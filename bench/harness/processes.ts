import { readFileSync } from 'node:fs';
import { systemErrorCode } from '../../src/base/errors.ts';

/** Whether the process runs. One that has ended and waits to be collected does not. */
export function isAlive(pid: number): boolean {
  return send(pid, 0) && !isZombie(pid);
}

export function endProcess(pid: number): void {
  send(pid, 'SIGKILL');
}

function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (thrown) {
    if (systemErrorCode(thrown) === 'ESRCH') return false;
    throw thrown;
  }
}

/** Known from /proc alone; elsewhere such a process counts as alive until it is collected. */
function isZombie(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  } catch (thrown) {
    if (['ENOENT', 'ESRCH'].includes(systemErrorCode(thrown) ?? '')) return false;
    throw thrown;
  }
}
