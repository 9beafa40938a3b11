import { addUsageTotals, NO_USAGE_TOTAL, type UsageTotal } from '../protocol/state/ledger.ts';
import type { TaskEvent } from '../protocol/events/event.ts';
import { errorMessage, MusterError } from '../base/errors.ts';
import { TaskReportFold, type TaskReport } from './task-report.ts';
import { TreeTimes } from './tree-times.ts';

/** A task with all below it, each below its parent in the order in which it was made. */
export interface TreeReport {
  readonly rows: readonly TreeRow[];
  /**
   * Milliseconds since the epoch: from the first task's making to the last one's end, or now. As all times of
   * a report they follow the monotonic clock, even if the wall clock was set meanwhile.
   */
  readonly from: number;
  readonly to: number;
  readonly reported: UsageTotal;
  readonly estimated: UsageTotal;
}

export interface TreeRow {
  readonly id: string;
  /** Below the task that was asked for; that is 0. */
  readonly level: number;
  /** Null where its log is not here or can't be read: `problem` says so. */
  readonly report: TaskReport | null;
  readonly problem: string | null;
}

/** Where the logs come from. */
export interface LogSource {
  /** Visits all events of a log in order. Throws for one that is not there. */
  scan(id: string, visit: (event: TaskEvent) => void): void;
  /** Whether a living process has it. */
  isOwned(id: string): boolean;
}

/**
 * Reads a task's log and those of all below it, each once. Throws for a task that is not there; a child
 * whose log is not here is a row that says so.
 */
export function treeReport(
  source: LogSource,
  id: string,
  { now, visit = () => {} }: TreeReportOptions,
): TreeReport {
  const rows: TreeRow[] = [];
  const times = new TreeTimes();
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
  { now, visit, times }: Required<TreeReportOptions> & { readonly times: TreeTimes },
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
