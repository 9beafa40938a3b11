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

const NOTHING: FollowedWork = { spans: [], measurements: [] };

/** The newest activation of a task that this process knows only from the log. */
interface EarlierActivation {
  /** The spans that have ended in it. */
  readonly spans: SpanRecord[];
  /** The children that it has created or resumed. */
  readonly children: string[];
}

/**
 * Follows the events of this process, and reads from the logs what it has not seen: the events of earlier processes, and
 * those that did not fit into a queue.
 *
 * If a process is killed, the spans of its unfinished activations may not have been exported. A process that continues
 * such an activation therefore exports again what has ended in it, with the same ids.
 */
export class TaskFollower {
  private readonly logs: EventLogs;
  private readonly spans: SpanFold;
  private readonly metrics = new MetricFold();
  /** The number of the next event of each task. */
  private readonly next = new Map<string, number>();
  private readonly earlier = new Map<string, EarlierActivation>();

  constructor(logs: EventLogs, options: { readonly content: boolean }) {
    this.logs = logs;
    this.spans = new SpanFold(options);
  }

  /** Folds an event of this process. Reads the log first if events before it are missing. */
  accept(event: TaskEvent): FollowedWork {
    const { task, seq } = event;
    const next = this.next.get(task);
    if (next === undefined && seq > 0) this.readEarlier(task, seq);
    if (seq < (this.next.get(task) ?? 0)) return NOTHING;
    const earlierSpans = this.spans.isOpen(task) ? this.takeEarlier(task) : [];
    this.earlier.delete(task);
    const missed = next !== undefined && seq > next ? this.readMissed(task, seq) : NOTHING;
    const work = this.fold(event);
    return {
      spans: [...earlierSpans, ...missed.spans, ...work.spans],
      measurements: [...missed.measurements, ...work.measurements],
    };
  }

  /** Reads the events of this process that did not reach `accept`, up to the end of the log of a task. */
  catchUp(task: string): FollowedWork {
    return this.readMissed(task, Number.POSITIVE_INFINITY);
  }

  private fold(event: TaskEvent): FollowedWork {
    this.next.set(event.task, event.seq + 1);
    const spans = this.spans.apply(event);
    return { spans, measurements: this.metrics.measure(event, spans) };
  }

  /** Folds the events of a log from the next one up to, and not including, the number `before`. */
  private readMissed(task: string, before: number): FollowedWork {
    const spans: SpanRecord[] = [];
    const measurements: Measurement[] = [];
    this.scan(task, before, (event) => {
      const work = this.fold(event);
      spans.push(...work.spans);
      measurements.push(...work.measurements);
    });
    return { spans, measurements };
  }

  /** Reads events of earlier processes, and the log of the parent before them, which says where the task belongs. */
  private readEarlier(task: string, before: number): void {
    let activation: EarlierActivation = { spans: [], children: [] };
    this.scan(task, before, (event) => {
      if (event.type === 'task.created') this.readParent(event.spec.parent);
      if (event.type === 'task.resumed') activation = { spans: [], children: [] };
      this.next.set(task, event.seq + 1);
      this.metrics.skip(event);
      activation.spans.push(...this.spans.apply(event));
      if (event.type === 'child.created' || event.type === 'child.resumed') {
        activation.children.push(event.child);
      }
    });
    this.earlier.set(task, activation);
  }

  private readParent(parent: string | null): void {
    if (parent !== null && !this.next.has(parent)) {
      this.readEarlier(parent, Number.POSITIVE_INFINITY);
    }
  }

  /** Returns the spans that have ended in the newest activation of a task and of the tasks below it. */
  private takeEarlier(task: string): readonly SpanRecord[] {
    if (!this.next.has(task)) this.readEarlier(task, Number.POSITIVE_INFINITY);
    const activation = this.earlier.get(task);
    this.earlier.delete(task);
    if (activation === undefined) return [];
    return [
      ...activation.children.flatMap((child) => this.takeEarlier(child)),
      ...activation.spans,
    ];
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
