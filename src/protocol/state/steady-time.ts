import type { Clock } from '../../base/clock.ts';
import type { EventStamp, TaskEvent } from '../events/event.ts';

type Stamped = Pick<EventStamp, 'ts' | 'clockShift'>;

/**
 * Returns the steady time of an event: the time at which it was written, in milliseconds on a clock that nobody sets. The
 * difference of two such times of one process is a duration, even if the wall clock was set in between.
 */
export function steadyTime({ ts, clockShift = 0 }: Stamped): number {
  return ts - clockShift;
}

/** The age of a task, which does not depend on changes of the wall clock. */
export interface Lifetime {
  /** The milliseconds from the creation of the task to its newest event. */
  elapsedMs: number;
  /** The milliseconds from its creation to its first start; null: it has not started. */
  startedMs: number | null;
  /** The milliseconds from its creation to its end; null: it has not ended. */
  endedMs: number | null;
  /** The times and the epoch of the newest event. */
  newest: Required<Pick<EventStamp, 'ts' | 'clockShift'>> & Pick<EventStamp, 'epoch'>;
}

/**
 * Returns the present steady time of a task, for a process that only reads its log. It is never before the newest event.
 */
export function steadyNow({ newest }: Lifetime, clock: Clock): number {
  return Math.max(newest.ts, clock.now()) - newest.clockShift;
}

/** Returns the age of a task that is at work, in milliseconds. */
export function taskAgeMs(lifetime: Lifetime, clock: Clock): number {
  return lifetime.elapsedMs + steadyNow(lifetime, clock) - steadyTime(lifetime.newest);
}

export function createLifetime(first: TaskEvent): Lifetime {
  return { elapsedMs: 0, startedMs: null, endedMs: null, newest: toNewestTime(first) };
}

/**
 * Adds the time since the previous event. Between two owners of a log, only the wall clock can measure this time. If the
 * wall clock was set back, no time is added.
 */
export function applyToLifetime(lifetime: Lifetime, event: TaskEvent): void {
  const { newest } = lifetime;
  const passed =
    event.epoch === newest.epoch ? steadyTime(event) - steadyTime(newest) : event.ts - newest.ts;
  lifetime.elapsedMs += Math.max(0, passed);
  lifetime.newest = toNewestTime(event);
  if (event.type === 'task.started') lifetime.startedMs ??= lifetime.elapsedMs;
  if (event.type === 'task.ended') lifetime.endedMs = lifetime.elapsedMs;
}

function toNewestTime({ ts, clockShift = 0, epoch }: TaskEvent): Lifetime['newest'] {
  return { ts, clockShift, epoch };
}
