import type { TaskEvent } from '../protocol/events/event.ts';
import type { Span } from './span.ts';
import type { TaskState } from '../protocol/state/task-state.ts';

/**
 * Collects the activities of a task, event by event. They are derived from the state that the common fold of events
 * computes.
 */
export class Timeline {
  private readonly closed: Span[] = [];
  private open: (Phase & { readonly from: number }) | null = null;
  /** The time of the newest event. If the clock was set back, this time does not change. */
  private at = -Infinity;
  private wasParked = false;

  /**
   * Adds an event.
   *
   * @param state the state after the event
   */
  add(event: TaskEvent, state: TaskState): void {
    const before = this.at;
    this.at = Math.max(before, event.ts);
    if (event.type === 'task.claimed') this.claim(event, state, before);
    const phase = findPhase(state);
    if (phase?.kind !== this.open?.kind || phase?.detail !== this.open?.detail) {
      this.close(this.at);
      this.open = phase === null ? null : { ...phase, from: this.at };
    }
    this.wasParked = state.status === 'parked';
  }

  /** The latest time of an event. */
  get last(): number {
    return this.at;
  }

  /** Returns all spans in order. A span that has not ended yet ends at `now`. */
  spans(now: number): readonly Span[] {
    if (this.open === null) return this.closed;
    const { kind, detail, from } = this.open;
    return now <= from ? this.closed : [...this.closed, { kind, detail, from, to: now }];
  }

  /** Handles a change of the owner. The open span of the earlier owner ends with that owner's last event. */
  private claim({ epoch }: TaskEvent, { end }: TaskState, before: number): void {
    if (epoch <= 1 || end !== null || this.wasParked) return;
    this.close(before);
    if (before < this.at) {
      this.closed.push({ kind: 'away', detail: '', from: before, to: this.at });
    }
  }

  /** Closes the open span. A span without duration is left out. */
  private close(to: number): void {
    if (this.open !== null && to > this.open.from) this.closed.push({ ...this.open, to });
    this.open = null;
  }
}

/** The tools whose calls last as long as the children for which they wait. */
const WAITS_FOR_CHILDREN: ReadonlySet<string> = new Set(['Task', 'TaskOutput']);
/** The tool whose calls last as long as a person takes to answer. */
const WAITS_FOR_PERSON = 'AskUser';

/** An activity of a task, without its times. */
export type Phase = Pick<Span, 'kind' | 'detail'>;

/** Returns the activity of a task, or null if the task has ended or has no activity that lasts. */
export function findPhase(
  state: Pick<TaskState, 'status' | 'activity' | 'openChildren'>,
): Phase | null {
  const { status, activity } = state;
  if (status === 'parked') return { kind: 'person', detail: 'parked' };
  if (status !== 'queued' && status !== 'running') return null;
  switch (activity.kind) {
    case 'held':
      return { kind: 'held', detail: activity.because };
    case 'connecting':
    case 'waiting_for_first_token':
    case 'streaming':
      return { kind: 'model', detail: '' };
    case 'compacting':
      return { kind: 'model', detail: 'compacting' };
    case 'stalled':
      return { kind: 'model', detail: 'stalled' };
    case 'waiting_to_retry':
      return { kind: 'retry', detail: activity.because };
    case 'checking':
      return { kind: 'tool', detail: 'checking the work' };
    case 'waiting_for_children':
      return { kind: 'children', detail: '' };
    case 'tools':
      return findCallPhase(activity);
    case 'idle':
      if (status === 'queued') return { kind: 'slot', detail: '' };
      return null;
    default:
      return activity satisfies never;
  }
}

/**
 * Returns the activity of calls. If one call works, this is the activity. Otherwise waiting for a person has precedence
 * over waiting for children, because the children may wait for the same person.
 */
function findCallPhase(calls: {
  readonly running: readonly string[];
  readonly asking: readonly string[];
}): Phase {
  const isWork = (tool: string) => tool !== WAITS_FOR_PERSON && !WAITS_FOR_CHILDREN.has(tool);
  const work = calls.running.filter(isWork);
  if (work.length > 0) return { kind: 'tool', detail: [...new Set(work)].join(', ') };
  const asks = calls.asking.length > 0 || calls.running.includes(WAITS_FOR_PERSON);
  if (asks) return { kind: 'person', detail: [...new Set(calls.asking)].join(', ') };
  return { kind: 'children', detail: '' };
}
