import { addUsageTotals, NO_USAGE_TOTAL, type UsageTotal } from '../protocol/state/ledger.ts';
import type { TaskEvent } from '../protocol/events/event.ts';
import { mergeFindings, type BoardFinding } from '../protocol/board.ts';
import { findOverlaps, type Overlap } from '../protocol/state/overlaps.ts';
import type { LandingState } from '../protocol/workspace.ts';
import { errorMessage, MusterError } from '../base/errors.ts';
import { TaskReportFold, type TaskReport } from './task-report.ts';

/** The report of a task and its descendants. Each task follows its parent, in the order of creation. */
export interface TreeReport {
  readonly rows: readonly TreeRow[];
  /**
   * The time of the creation of the first task, in milliseconds since the epoch. All times in a report follow the
   * monotonic clock, so durations are correct even if the wall clock was set during the run.
   */
  readonly from: number;
  /** The time of the last end, or the present time if a task is active. */
  readonly to: number;
  readonly reported: UsageTotal;
  readonly estimated: UsageTotal;
  /** The number of known tasks that were not read because of `TreeReportOptions.maxTasks`. Absent if all were read. */
  readonly omitted?: number;
}

/** One task in the report of a tree. */
export interface TreeRow {
  readonly id: string;
  /** The depth below the requested task, which has level 0. */
  readonly level: number;
  /** The report, or null if the log is missing or cannot be read. Then `problem` gives the reason. */
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
 * Reads the logs of a task and its descendants, each only once. Throws for a task that does not exist. A child whose
 * log is missing has a row with the problem.
 */
export function createTreeReport(
  source: LogSource,
  id: string,
  options: TreeReportOptions,
): TreeReport {
  const reading = readTree(source, id, options);
  for (let step = reading.next(); ; step = reading.next()) {
    if (step.done === true) return step.value;
  }
}

/** The maximum time of reading without a pause for other work. */
const SLICE_MS = 15;

/** Does the same as `createTreeReport`, with pauses for other work. */
export async function createTreeReportInSlices(
  source: LogSource,
  id: string,
  options: TreeReportOptions,
): Promise<TreeReport> {
  const reading = readTree(source, id, options);
  let sliceEnds = performance.now() + SLICE_MS;
  for (let step = reading.next(); ; step = reading.next()) {
    if (step.done === true) return step.value;
    if (performance.now() < sliceEnds) continue;
    await new Promise(setImmediate);
    sliceEnds = performance.now() + SLICE_MS;
  }
}

/** Reads a tree, with a pause after each task. */
function* readTree(
  source: LogSource,
  id: string,
  { now, visit = () => {}, landingOf = () => 'gone', maxTasks = Infinity }: TreeReportOptions,
): Generator<void, TreeReport, undefined> {
  const rows: TreeRow[] = [];
  const times = new TreeClock();
  const seen = new Set<string>();
  const stack = [{ id, level: 0 }];
  while (rows.length < maxTasks) {
    const next = stack.pop();
    if (next === undefined) break;
    // Show each log once, because damaged logs may name each other as children.
    if (seen.has(next.id)) continue;
    seen.add(next.id);
    const row = createRow(source, next, { now, visit, landingOf, times });
    if (row.report === null && next.level === 0) {
      throw new MusterError('NOT_FOUND', `task ${id}: ${row.problem ?? 'its log is empty'}`);
    }
    rows.push(row);
    const level = next.level + 1;
    for (const child of row.report?.receipt.children.toReversed() ?? []) {
      stack.push({ id: child, level });
    }
    yield;
  }
  const omitted = new Set(stack.map((each) => each.id).filter((each) => !seen.has(each))).size;
  const sums = sumReports(rows.flatMap(({ report }) => report ?? []));
  return { rows, ...sums, ...(omitted === 0 ? {} : { omitted }) };
}

export interface TreeReportOptions {
  /** The present time in milliseconds since the epoch, at which the times of active tasks end. */
  readonly now: number;
  /** Called once with each event. The event's time is that of the report. */
  readonly visit?: (event: TaskEvent) => void;
  /** Returns what has become of the changes in the workspace of a task. Default: there are no workspaces any more. */
  readonly landingOf?: (id: string) => LandingState;
  /** The maximum number of tasks that are read, the task itself included. Default: all. */
  readonly maxTasks?: number;
}

const WITHOUT_SPECIFICATION = 'its specification (task.created) is missing or damaged in its log';

function createRow(
  source: LogSource,
  { id, level }: { readonly id: string; readonly level: number },
  {
    now,
    visit,
    landingOf,
    times,
  }: Required<Omit<TreeReportOptions, 'maxTasks'>> & { readonly times: TreeClock },
): TreeRow {
  const scan = (each: (event: TaskEvent) => void) => {
    const log = times.log(id);
    source.scan(id, (event) => each(log.timed(event)));
    return log;
  };
  const fold = new TaskReportFold((each) => void scan(each));
  try {
    // Check the owner before reading the log. An owner writes the end before it releases the log, so a log without an
    // owner is complete.
    const isOwned = source.isOwned(id);
    const log = scan((event) => {
      fold.add(event);
      visit(event);
    });
    const report = fold.report({ isOwned, now: now - log.aheadMs, landing: landingOf(id) });
    return { id, level, report, problem: report === null ? WITHOUT_SPECIFICATION : null };
  } catch (thrown) {
    if (level === 0) throw thrown;
    // The log was deleted or not imported. The receipt of the parent still shows what the parent knows about the task.
    return { id, level, report: null, problem: errorMessage(thrown) };
  }
}

function sumReports(reports: readonly TaskReport[]): Omit<TreeReport, 'rows'> {
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
 * Puts the events of a tree's logs on one timeline with correct durations, even if the wall clock was set while a
 * process worked on the tree. For each process, the time of its first event in the tree is that of the wall clock, and
 * all later times follow the process's monotonic clock.
 */
class TreeClock {
  /** The clock shift of each process at its first event, relative to which later shifts are measured. */
  private readonly processes = new Map<string, number>();
  /** The same shift for the first events of child tasks, which the parent's process has written. */
  private readonly children = new Map<string, number>();

  /** Begins a log. The events of a log must be added in order, and after the events of the parent's log. */
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

/** The clock for the events of one log. */
export interface LogClock {
  /** The number of milliseconds by which the wall clock was ahead of the timeline at the newest event. */
  aheadMs: number;
  /** Returns the next event with its time on the timeline as `ts`. */
  timed(event: TaskEvent): TaskEvent;
}

/** Puts together the board of a task and its descendants. */
export function findTreeBoard({ rows }: TreeReport): readonly BoardFinding[] {
  return mergeFindings(rows.map(({ report }) => report?.findings ?? []));
}

/** Finds the files that several tasks of a tree have changed and that wait in their workspaces. */
export function findTreeOverlaps({ rows }: TreeReport): readonly Overlap[] {
  const workspaces = rows.flatMap(({ report }) => report?.workspace ?? []);
  return findOverlaps(workspaces.filter(({ landing }) => isWaiting(landing)));
}

function isWaiting(landing: LandingState): boolean {
  return landing === 'open' || landing === 'unfinished';
}
