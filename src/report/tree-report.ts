import { addUsageTotals, NO_USAGE_TOTAL, type UsageTotal } from '../protocol/state/ledger.ts';
import type { TaskEvent } from '../protocol/events/event.ts';
import { errorMessage, MusterError } from '../base/errors.ts';
import { TaskReportFold, type TaskReport } from './task-report.ts';

/** A task and its descendants, each below its parent in the order of their creation. */
export interface TreeReport {
  readonly rows: readonly TreeRow[];
  /**
   * The time from the creation of the first task to the last end, or now, in milliseconds since the epoch. All times
   * of a report follow the monotonic clock, even if the wall clock was set meanwhile.
   */
  readonly from: number;
  readonly to: number;
  readonly reported: UsageTotal;
  readonly estimated: UsageTotal;
}

export interface TreeRow {
  readonly id: string;
  /** The depth below the requested task, which is at 0. */
  readonly level: number;
  /** The report, or null if the log is missing or cannot be read; `problem` says why. */
  readonly report: TaskReport | null;
  readonly problem: string | null;
}

/** The source of the logs. */
export interface LogSource {
  /** Visits all events of a log in order. Throws for a log that does not exist. */
  scan(id: string, visit: (event: TaskEvent) => void): void;
  /** Returns whether a living process owns the log. */
  isOwned(id: string): boolean;
}

/**
 * Reads the logs of a task and its descendants, each once. Throws for a task that does not exist. A child whose log
 * is missing is a row that says so.
 */
export function treeReport(
  source: LogSource,
  id: string,
  { now, visit = () => {} }: TreeReportOptions,
): TreeReport {
  const rows: TreeRow[] = [];
  const times = new TreeClock();
  const seen = new Set<string>();
  const stack = [{ id, level: 0 }];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    // Logs that say they are above each other are shown once.
    if (seen.has(next.id)) continue;
    seen.add(next.id);
    const row = rowOf(source, next, { now, visit, times });
    if (row.report === null && next.level === 0) {
      throw new MusterError('NOT_FOUND', `task ${id}: ${row.problem ?? 'its log is empty'}`);
    }
    rows.push(row);
    const level = next.level + 1;
    for (const child of row.report?.receipt.children.toReversed() ?? []) {
      stack.push({ id: child, level });
    }
  }
  return { rows, ...sumsOf(rows.flatMap(({ report }) => report ?? [])) };
}

export interface TreeReportOptions {
  /** Milliseconds since the epoch: where the time of those at work ends. */
  readonly now: number;
  /** Called with each event once, its time as in the report. */
  readonly visit?: (event: TaskEvent) => void;
}

const WITHOUT_SPECIFICATION = 'its specification (task.created) is missing or damaged in its log';

function rowOf(
  source: LogSource,
  { id, level }: { readonly id: string; readonly level: number },
  { now, visit, times }: Required<TreeReportOptions> & { readonly times: TreeClock },
): TreeRow {
  const scan = (each: (event: TaskEvent) => void) => {
    const log = times.log(id);
    source.scan(id, (event) => each(log.timed(event)));
    return log;
  };
  const fold = new TaskReportFold((each) => void scan(each));
  try {
    // Asked before the log is read: an end is written before the log is given up.
    const isOwned = source.isOwned(id);
    const log = scan((event) => {
      fold.add(event);
      visit(event);
    });
    const report = fold.report({ isOwned, now: now - log.aheadMs });
    return { id, level, report, problem: report === null ? WITHOUT_SPECIFICATION : null };
  } catch (thrown) {
    if (level === 0) throw thrown;
    // Deleted, or never brought here: what its parent knows of it stands in the parent's receipt.
    return { id, level, report: null, problem: errorMessage(thrown) };
  }
}

function sumsOf(reports: readonly TaskReport[]): Omit<TreeReport, 'rows'> {
  let reported = NO_USAGE_TOTAL;
  let estimated = NO_USAGE_TOTAL;
  let from = Infinity;
  let to = -Infinity;
  for (const report of reports) {
    reported = addUsageTotals(reported, report.reported);
    estimated = addUsageTotals(estimated, report.estimated);
    from = Math.min(from, report.createdAt);
    to = Math.max(to, report.until);
  }
  return { from, to, reported, estimated };
}

/**
 * Puts the events of a tree's logs on one timeline on which durations are right even if the wall clock
 * was set while a process worked on the tree: for each process, the time of its first event in the
 * tree is that of the wall clock, and all others follow by its monotonic clock.
 */
class TreeClock {
  /** The clock shift of each process that counts as zero. */
  private readonly processes = new Map<string, number>();
  /** The same for the first events of tasks, which the parent's process has written. */
  private readonly children = new Map<string, number>();

  /** Begins a log. Its events must be added in order, and those of its parent before them. */
  log(id: string): LogClock {
    let base = this.children.get(id);
    const { processes, children } = this;
    return {
      aheadMs: 0,
      timed(event) {
        const shift = event.clockShift ?? 0;
        if (event.type === 'task.claimed') {
          const process = `${event.pid} ${event.host}`;
          base = processes.get(process) ?? shift;
          processes.set(process, base);
        }
        base ??= shift;
        if (event.type === 'child.created') children.set(event.child, base);
        this.aheadMs = shift - base;
        if (shift === 0 && base === 0) return event;
        const { clockShift: _, ...unshifted } = event;
        return { ...unshifted, ts: event.ts - this.aheadMs };
      },
    };
  }
}

export interface LogClock {
  /** Milliseconds by which the wall clock was ahead of the timeline at the newest event. */
  aheadMs: number;
  /** Returns the next event with its time on the timeline as `ts`. */
  timed(event: TaskEvent): TaskEvent;
}
