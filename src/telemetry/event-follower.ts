import { isId } from '../base/ids.ts';
import type { TaskEvent } from '../protocol/events/event.ts';
import { MetricFold } from './metric-fold.ts';
import type { Measurement } from './metric-store.ts';
import { SpanFold } from './span-fold.ts';
import type { SpanRecord } from './span-record.ts';

/** Reads the logs of tasks. */
export interface EventLogs {
  exists(id: string): boolean;
  scan(id: string, visit: (event: TaskEvent) => void): unknown;
}

/** The spans to export after some events, and the measurements of the work of this process. */
export interface FollowedWork {
  readonly spans: readonly SpanRecord[];
  readonly measurements: readonly Measurement[];
}

/**
 * Follows the events of this process, and reads from the logs what it has not seen: the events of earlier processes, and
 * those that did not fit into a queue.
 *
 * If a process is killed, the spans of its unfinished activations may not have been exported. A process that continues
 * such an activation therefore exports again what has ended in it, with the same ids.
 */
export class EventFollower {
  private readonly logs: EventLogs;
  private readonly spans: SpanFold;
  private readonly metrics = new MetricFold();
  /** The number of the first event of each task that this process has written. */
  private readonly first = new Map<string, number>();
  /** The number of the next event of each task. */
  private readonly next = new Map<string, number>();

  constructor(logs: EventLogs, options: { readonly content: boolean }) {
    this.logs = logs;
    this.spans = new SpanFold(options);
  }

  /** Notes that this process has written an event. Must be called for each event, at once and in order. */
  note({ task, seq }: TaskEvent): void {
    if (!this.first.has(task)) this.first.set(task, seq);
  }

  /** Folds an event that was noted. Reads the log first if events before it are missing. */
  accept(event: TaskEvent): FollowedWork {
    const { task, seq } = event;
    const earlier = this.continueTask(task);
    const next = this.next.get(task) ?? 0;
    if (seq < next) return { spans: earlier, measurements: [] };
    const work = [...(seq > next ? this.readMissed(task, seq) : []), this.fold(event)];
    return combine(earlier, work);
  }

  /** Folds the noted events of a task that did not reach `accept`, up to the end of its log. */
  catchUp(task: string): FollowedWork {
    const earlier = this.continueTask(task);
    return combine(earlier, this.readMissed(task, Number.POSITIVE_INFINITY));
  }

  private fold(event: TaskEvent): FollowedWork {
    this.next.set(event.task, event.seq + 1);
    const spans = this.spans.apply(event);
    return { spans, measurements: this.metrics.measure(event, spans) };
  }

  /** Folds the events of this process from the next one up to, and not including, the number `before`. */
  private readMissed(task: string, before: number): readonly FollowedWork[] {
    const work: FollowedWork[] = [];
    this.scan(task, before, (event) => void work.push(this.fold(event)));
    return work;
  }

  /**
   * Reads what earlier processes have logged of a task, when this process begins to work on it. Returns the spans that
   * have ended in an activation that this process continues.
   */
  private continueTask(task: string): readonly SpanRecord[] {
    if (this.next.has(task)) return [];
    const spans = this.readEarlier(task);
    return this.spans.isOpen(task) ? spans : [];
  }

  /**
   * Returns the spans of a task, and of the tasks that it has created or resumed: of a root task only those of its newest
   * activation, since each message of a long conversation begins one.
   */
  private readEarlier(task: string): readonly SpanRecord[] {
    let spans: SpanRecord[] = [];
    let children: string[] = [];
    let isRoot = false;
    this.scan(task, this.first.get(task) ?? Number.POSITIVE_INFINITY, (event) => {
      if (event.type === 'task.created') {
        isRoot = event.spec.parent === null;
      }
      if (event.type === 'task.resumed' && isRoot) [spans, children] = [[], []];
      this.next.set(task, event.seq + 1);
      this.metrics.skip(event);
      spans.push(...this.spans.apply(event));
      if (event.type === 'child.created' || event.type === 'child.resumed') {
        children.push(event.child);
      }
    });
    const below = children.flatMap((child) =>
      this.next.has(child) ? [] : this.readEarlier(child),
    );
    return [...below, ...spans];
  }

  /** Visits the events of a log from the next one up to, and not including, the number `before`. */
  private scan(task: string, before: number, visit: (event: TaskEvent) => void): void {
    if (!isId(task) || !this.logs.exists(task)) return;
    const first = this.next.get(task) ?? 0;
    this.logs.scan(task, (event) => {
      if (event.seq >= first && event.seq < before) visit(event);
    });
  }
}

function combine(earlier: readonly SpanRecord[], work: readonly FollowedWork[]): FollowedWork {
  return {
    spans: [...earlier, ...work.flatMap(({ spans }) => spans)],
    measurements: work.flatMap(({ measurements }) => measurements),
  };
}
