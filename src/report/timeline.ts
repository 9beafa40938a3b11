import type { TaskEvent } from '../protocol/events/event.ts';
import type { Span } from './span.ts';
import type { TaskState } from '../protocol/state/task-state.ts';

/** Collects what a task was at, event by event: the same reducer as all views, looked at in between. */
export class Timeline {
  private readonly closed: Span[] = [];
  private open: (Phase & { readonly from: number }) | null = null;
  /** When the newest event was written: a clock that was set back stands still here. */
  private at = -Infinity;
  private wasParked = false;

  /** `state`: after the event. */
  add(event: TaskEvent, state: TaskState): void {
    const before = this.at;
    this.at = Math.max(before, event.ts);
    if (event.type === 'task.claimed') this.claim(event, state, before);
    const phase = phaseOf(state);
    if (phase?.kind !== this.open?.kind || phase?.detail !== this.open?.detail) {
      this.close(this.at);
      this.open = phase === null ? null : { ...phase, from: this.at };
    }
    this.wasParked = state.status === 'parked';
  }

  /** The latest time that an event tells of. */
  get last(): number {
    return this.at;
  }

  /** All there are, in order; one that goes on reaches to `now`. */
  spans(now: number): readonly Span[] {
    if (this.open === null) return this.closed;
    const { kind, detail, from } = this.open;
    return now <= from ? this.closed : [...this.closed, { kind, detail, from, to: now }];
  }

  /** A later owner: what was open broke off with the last word of the one before. */
  private claim({ epoch }: TaskEvent, { end }: TaskState, before: number): void {
    if (epoch <= 1 || end !== null || this.wasParked) return;
    this.close(before);
    if (before < this.at) {
      this.closed.push({ kind: 'away', detail: '', from: before, to: this.at });
    }
  }

  /** What took no time is not worth a mark. */
  private close(to: number): void {
    if (this.open !== null && to > this.open.from) this.closed.push({ ...this.open, to });
    this.open = null;
  }
}

/** Their calls last as long as the children that they wait for. */
const WAITS_FOR_CHILDREN: ReadonlySet<string> = new Set(['Task', 'TaskOutput']);
/** Its calls last as long as a person takes. */
const WAITS_FOR_PERSON = 'AskUser';

export type Phase = Pick<Span, 'kind' | 'detail'>;

/** What a task is at; null: nothing that lasts, or it has ended. Pure. */
export function phaseOf(
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
    case 'waiting_for_children':
      return { kind: 'children', detail: '' };
    case 'tools':
      return callPhase(activity);
    case 'idle':
      if (status === 'queued') return { kind: 'slot', detail: '' };
      return null;
    default:
      return activity satisfies never;
  }
}

/** Work comes before waiting, and a person before children, who may wait for the same one. */
function callPhase(calls: {
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
