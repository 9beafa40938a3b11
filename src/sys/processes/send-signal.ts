import { systemErrorCode } from '../../base/errors.ts';

/**
 * Sends a signal to a process, or to a process group if `pid` is negative. Returns false if the process no longer
 * exists or belongs to another user.
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
