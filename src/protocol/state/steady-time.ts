import type { Clock } from '../../base/clock.ts';
import type { EventStamp, TaskEvent } from '../events/event.ts';

type Stamped = Pick<EventStamp, 'ts' | 'clockShift'>;

/**
 * Returns the time at which an event was written, in milliseconds on the monotonic clock of its writer. The difference
 * of two such times of one process is a duration, even if the wall clock was set in between.
 */
export function steadyTime({ ts, clockShift = 0 }: Stamped): number {
  return ts - clockShift;
}

/** The age of a task, not affected by changes of the wall clock. */
export interface Lifetime {
  /** Milliseconds from the task's creation to its newest event. */
  elapsedMs: number;
  /** Milliseconds from its creation to its first start; null if it has not started. */
  startedMs: number | null;
  /** Milliseconds from its creation to its end; null if it has not ended. */
  endedMs: number | null;
  /** The newest event. */
  newest: Required<Stamped> & Pick<EventStamp, 'epoch'>;
}

/**
 * Returns the present time on the timeline of the steady times of a task, for a process that only
 * reads its log. It is never before the newest event.
 */
export function steadyNow({ newest }: Lifetime, clock: Clock): number {
  return Math.max(newest.ts, clock.now()) - newest.clockShift;
}

/** Returns how long a task that is at work has existed, in milliseconds. */
export function taskAgeMs(lifetime: Lifetime, clock: Clock): number {
  return lifetime.elapsedMs + steadyNow(lifetime, clock) - steadyTime(lifetime.newest);
}

export function newLifetime(first: TaskEvent): Lifetime {
  return { elapsedMs: 0, startedMs: null, endedMs: null, newest: timeOf(first) };
}

/**
 * Adds the time since the previous event. Between two owners of a log, only the wall clock measures it. If that
 * was set back, no time is added.
 */
export function applyToLifetime(lifetime: Lifetime, event: TaskEvent): void {
  const { newest } = lifetime;
  const passed =
    event.epoch === newest.epoch ? steadyTime(event) - steadyTime(newest) : event.ts - newest.ts;
  lifetime.elapsedMs += Math.max(0, passed);
  lifetime.newest = timeOf(event);
  if (event.type === 'task.started') lifetime.startedMs ??= lifetime.elapsedMs;
  if (event.type === 'task.ended') lifetime.endedMs = lifetime.elapsedMs;
}

function timeOf({ ts, clockShift = 0, epoch }: TaskEvent): Lifetime['newest'] {
  return { ts, clockShift, epoch };
}
