import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { systemErrorCode } from '../../src/base/errors.ts';

/** Whether the process runs. One that has ended and waits to be collected does not. */
export function isAlive(pid: number): boolean {
  return send(pid, 0) && !isZombie(pid);
}

export function endProcess(pid: number): void {
  send(pid, 'SIGKILL');
}

/**
 * The processes that have this word in their arguments. In a process namespace of its own a process
 * does not know the number that it has here.
 */
export function processesNaming(word: string): readonly number[] {
  const pids = existsSync('/proc/self/cmdline') ? pidsOfProc(word) : pidsOfPs(word);
  return pids.filter((pid) => pid !== process.pid && isAlive(pid));
}

function pidsOfProc(word: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && argumentsOf(name).includes(word))
    .map(Number);
}

function pidsOfPs(word: string): readonly number[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,args='], { encoding: 'utf8' }).split('\n');
  return lines.filter((line) => line.includes(word)).map((line) => Number.parseInt(line, 10));
}

function argumentsOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch (thrown) {
    // It ended meanwhile.
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
