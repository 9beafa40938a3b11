import { TASK_VARIABLE } from '../../sys/processes/command-environment.ts';
import { sendSignal } from '../../sys/processes/process-group.ts';
import {
  findProcesses,
  readResidentBytes,
  readStartTime,
} from '../../sys/processes/process-table.ts';

const INTERVAL_MS = 300;

/** The processes whose memory is watched: the process of a task, and the commands of the task. */
interface WatchedProcesses {
  readonly taskId: string;
  readonly pid: number;
  /** The maximum resident memory of all of them together, in bytes. */
  readonly maxBytes: number;
  /** Called once, after all of them were killed. `usedBytes`: their memory before that. */
  readonly onExceeded: (usedBytes: number) => void;
}

/**
 * Watches the resident memory of the processes of a task, where there is a /proc. Returns a function that ends the
 * watch.
 */
export function watchMemory({ taskId, pid, maxBytes, onExceeded }: WatchedProcesses): () => void {
  const since = readStartTime(pid);
  const marks = new Set([`${TASK_VARIABLE}=${taskId}`]);
  const query = { marks, group: pid, ...(since === undefined ? {} : { since }) };
  const timer = setInterval(() => {
    const pids = findProcesses(query) ?? [];
    const usedBytes = pids.reduce((sum, each) => sum + readResidentBytes(each), 0);
    if (usedBytes <= maxBytes) return;
    clearInterval(timer);
    // They get no time to end by themselves, in which they could take the memory of everything else.
    for (const each of pids) sendSignal(each, 'SIGKILL');
    onExceeded(usedBytes);
  }, INTERVAL_MS);
  timer.unref();
  return () => clearInterval(timer);
}
