import { TASK_VARIABLE } from '../../sys/processes/command-environment.ts';
import { sendSignal } from '../../sys/processes/send-signal.ts';
import {
  findProcessesByVariable,
  readResidentBytes,
  readStartTime,
} from '../../sys/processes/process-table.ts';

const INTERVAL_MS = 300;

/** The processes whose memory is watched: the process of a task, and the commands of the task. */
interface WatchedProcesses {
  readonly taskId: string;
  /** The process of the task, which is older than the commands that count. */
  readonly pid: number;
  /** The maximum resident memory of all of them together, in bytes. */
  readonly maxBytes: number;
  /** Called once, after all of them were killed. `usedBytes`: their memory before that. */
  readonly onExceeded: (usedBytes: number) => void;
}

/** All watches of this process, with the start time of the oldest process of each. They share one timer. */
const watches = new Map<WatchedProcesses, number>();
let timer: NodeJS.Timeout | null = null;

/**
 * Watches the resident memory of the processes of a task, where there is a /proc. Returns a function that ends the
 * watch.
 */
export function watchMemory(watched: WatchedProcesses): () => void {
  watches.set(watched, readStartTime(watched.pid) ?? 0);
  timer ??= setInterval(checkMemory, INTERVAL_MS).unref();
  return () => {
    watches.delete(watched);
    if (watches.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  };
}

function checkMemory(): void {
  const pidsByTask = findProcessesByVariable(TASK_VARIABLE, Math.min(...watches.values()));
  for (const watched of watches.keys()) {
    const pids = pidsByTask.get(watched.taskId) ?? [];
    const usedBytes = pids.reduce((sum, each) => sum + readResidentBytes(each), 0);
    if (usedBytes <= watched.maxBytes) continue;
    watches.delete(watched);
    // They get no time to end by themselves, in which they could take the memory of everything else.
    for (const each of pids) sendSignal(each, 'SIGKILL');
    watched.onExceeded(usedBytes);
  }
}
