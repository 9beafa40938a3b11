import type { TaskEvent } from '../protocol/events/event.ts';

/**
 * Puts the events of a tree's logs on one timeline on which durations are right even if the wall clock
 * was set while a process worked on the tree: for each process, the time of its first event in the
 * tree is that of the wall clock, and all others follow by its monotonic clock.
 */
export class TreeClock {
  /** The clock shift that counts as none, by process. */
  private readonly processes = new Map<string, number>();
  /** The same for the first events of tasks, which the process of the parent has written. */
  private readonly children = new Map<string, number>();

  /** Begins a log. Its events are to be given in order, and those of its parent before them. */
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
