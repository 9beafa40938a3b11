import { readTextIfPresent } from '../files/path-lookup.ts';
import { matchProcesses, type ProcessQuery } from './process-table.ts';
import { sendSignal } from './send-signal.ts';

/** The interval at which the number of all processes of the machine is read, which takes some 20 µs. */
const INTERVAL_MS = 200;
/** The time after which each process is looked at again, although the number of all processes has hardly grown. */
const MAX_PAUSE_MS = 2_000;
/** The smallest growth that is a reason for a look, as a share of the limit. */
const MIN_GROWTH = 1 / 16;

/** Says that a command had too many processes, as a clause for messages. */
export function describeProcessLimit(max: number): string {
  return `it had more than ${max} processes and threads at a time, the limit sandbox.command_processes`;
}

/** Processes that are watched, and the limit on their number. */
interface Watch {
  readonly query: ProcessQuery;
  readonly max: number;
  onExceeded(running: readonly number[]): void;
}

const watches = new Set<Watch>();
let timer: NodeJS.Timeout | undefined;
/** The last look at each process. */
let lastLook = {
  at: 0,
  /** The smallest number of all processes of the machine since then. */
  total: 0,
  /** The number of further processes with which the first watch reaches its limit. */
  headroom: 0,
};

/**
 * Watches the number of processes and threads that match a query, while this process runs. The kernel has no limit that
 * holds for root, so they are counted at intervals. Does nothing without /proc, so on other systems than Linux.
 *
 * @param max the maximum number; 0: no limit
 * @param onExceeded receives the pids of the running processes, once, when there are more than that. It must kill them:
 *   they may have been stopped (SIGSTOP).
 * @returns a function that ends the watch, to be called when the processes have ended
 */
export function limitProcesses(
  query: ProcessQuery,
  max: number,
  onExceeded: Watch['onExceeded'],
): () => void {
  if (max === 0 || process.platform !== 'linux') return () => {};
  const watch: Watch = { query, max, onExceeded };
  watches.add(watch);
  if (timer === undefined) {
    lastLook = { at: performance.now(), total: countAllThreads() ?? 0, headroom: max };
    timer = setInterval(checkAll, INTERVAL_MS).unref();
  } else {
    lastLook.headroom = Math.min(lastLook.headroom, max);
  }
  return () => {
    watches.delete(watch);
    if (watches.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function checkAll(): void {
  const total = countAllThreads();
  const smallestLimit = Math.min(...[...watches].map(({ max }) => max));
  const pauseMs = performance.now() - lastLook.at;
  const { total: lastTotal, headroom } = lastLook;
  const reason = findReasonToLook({ total, lastTotal, headroom, pauseMs, smallestLimit });
  if (reason === null) lastLook.total = Math.min(lastLook.total, total ?? 0);
  else look([...watches], { total: total ?? 0, isGrowing: reason === 'growth' });
}

/** Looks at each process of the machine, and reports the watches whose limit is exceeded. */
function look(
  all: readonly Watch[],
  { total, isGrowing }: { readonly total: number; readonly isGrowing: boolean },
): void {
  // Processes that start others as fast as they can leave this process little time for the look, so they are stopped.
  const stopped = isGrowing ? all.map(({ query }) => listGroups(query)) : [];
  for (const group of stopped.flat()) sendSignal(-group, 'SIGSTOP');
  const matching = matchProcesses(all.map(({ query }) => query));
  lastLook = { at: performance.now(), total, headroom: Infinity };
  for (const [index, watch] of all.entries()) {
    const { running, threads } = matching?.[index] ?? { running: [], threads: 0 };
    if (threads > watch.max) {
      watches.delete(watch);
      watch.onExceeded(running);
    } else {
      lastLook.headroom = Math.min(lastLook.headroom, watch.max - threads);
      for (const group of stopped[index] ?? []) sendSignal(-group, 'SIGCONT');
    }
  }
}

/** Lists the process groups in which most processes of a query are: that of its leader, and that of a sandbox in it. */
function listGroups({ group }: ProcessQuery): readonly number[] {
  if (group === undefined) return [];
  const children = readTextIfPresent(`/proc/${group}/task/${group}/children`) ?? '';
  const first = /^\d+/.exec(children)?.[0];
  return first === undefined ? [group] : [group, Number(first)];
}

/** The facts that decide whether each process has to be looked at. */
export interface ProcessGrowth {
  /** The number of all processes and threads of the machine; undefined if it is not known. */
  readonly total: number | undefined;
  /** The smallest such number since the last look. */
  readonly lastTotal: number;
  /** The number of further processes with which the first watch reached its limit at the last look. */
  readonly headroom: number;
  /** The time since the last look. */
  readonly pauseMs: number;
  /** The smallest limit of all watches. */
  readonly smallestLimit: number;
}

/**
 * Finds the reason why each process has to be looked at, which takes some 10 µs for each; null if there is none. No
 * limit can be exceeded while the whole machine has fewer processes. With more, the reason is that their number has
 * grown by so much that a limit may be exceeded, or that much time has passed, in which others may have ended.
 */
export function findReasonToLook(state: ProcessGrowth): 'growth' | 'time' | null {
  const { total, lastTotal, headroom, pauseMs, smallestLimit } = state;
  if (total !== undefined && total <= smallestLimit) return null;
  const minGrowth = Math.max(headroom + 1, smallestLimit * MIN_GROWTH);
  if (total !== undefined && total - lastTotal >= minGrowth) return 'growth';
  return pauseMs >= MAX_PAUSE_MS ? 'time' : null;
}

/** Matches the number of processes and threads in /proc/loadavg (proc_loadavg(5)). Some sandboxes always report 0. */
const ALL_THREADS = / \d+\/([1-9]\d*) /;

/** Returns the number of processes and threads of the machine; undefined if it is not known. */
function countAllThreads(): number | undefined {
  const total = ALL_THREADS.exec(readTextIfPresent('/proc/loadavg') ?? '')?.[1];
  return total === undefined ? undefined : Number(total);
}
