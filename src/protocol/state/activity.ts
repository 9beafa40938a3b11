import type { AwaitedProgress } from '../model.ts';
import { openQuestions, type InboxState } from './questions.ts';
import type { Question } from '../question.ts';

/** The activity of a running task, as every view shows it. Times in `since` are steady times. */
export type Activity =
  | { readonly kind: 'idle' }
  | { readonly kind: 'connecting' }
  /** The request is sent. `since`: when it was begun. */
  | { readonly kind: 'waiting_for_first_token'; readonly since: number }
  | { readonly kind: 'streaming' }
  /** A summary of its conversation is requested, to make room in the context window. */
  | { readonly kind: 'compacting' }
  /** The answer has begun, but nothing more of it has arrived since then. */
  | { readonly kind: 'stalled'; readonly since: number }
  | { readonly kind: 'waiting_to_retry'; readonly because: string }
  /** The task waits for a rate limit or for memory, until `untilMs` (null if that is not known). */
  | { readonly kind: 'held'; readonly because: string; readonly untilMs: number | null }
  /** Calls run. `asking`: tools whose calls wait for a person. */
  | {
      readonly kind: 'tools';
      readonly running: readonly string[];
      readonly asking: readonly string[];
      /** The start of the oldest running call; null if none runs. */
      readonly since: number | null;
    }
  /** The answer has ended, and children work in the background. */
  | { readonly kind: 'waiting_for_children' };

/** Returns the activity of a task that is held. `untilMs` is absent if it is not known. */
export function heldActivity(hold: {
  readonly because: string;
  readonly untilMs?: number | null;
}): Activity {
  return { kind: 'held', because: hold.because, untilMs: hold.untilMs ?? null };
}

/** A running call: its tool, and the steady time of its start. */
export interface RunningCall {
  readonly tool: string;
  readonly since: number;
}

/** Returns the activity of a task whose request has been silent `since` a steady time. */
export function quietActivity(waitsFor: AwaitedProgress, since: number): Activity {
  switch (waitsFor) {
    case 'connection':
      return { kind: 'connecting' };
    case 'first_token':
      return { kind: 'waiting_for_first_token', since };
    case 'next_event':
      return { kind: 'stalled', since };
  }
}

/** Moves the start of an activity to `ms` milliseconds later. */
export function shiftActivity(activity: Activity, ms: number): Activity {
  if (ms === 0 || !('since' in activity) || activity.since === null) return activity;
  return { ...activity, since: activity.since + ms };
}

/** Derives the activity from the running calls, by id, and the open questions. */
function callActivity(inbox: InboxState, runningCalls: ReadonlyMap<string, RunningCall>): Activity {
  const open = openQuestions(inbox);
  const asking = open.map(({ tool }) => tool);
  const calls = open.length === 0 ? [...runningCalls.values()] : unasked(open, runningCalls);
  if (calls.length === 0 && asking.length === 0) return { kind: 'idle' };
  const since = calls.length === 0 ? null : Math.min(...calls.map((each) => each.since));
  return { kind: 'tools', running: calls.map(({ tool }) => tool), asking, since };
}

function unasked(
  open: readonly Question[],
  runningCalls: ReadonlyMap<string, RunningCall>,
): readonly RunningCall[] {
  const asked = new Set(open.map(({ callId }) => callId));
  return [...runningCalls].flatMap(([id, call]) => (asked.has(id) ? [] : [call]));
}

interface Doing extends InboxState {
  /** The activity, if it does not follow from the calls; null if it does. */
  readonly doing: Activity | null;
  readonly runningCalls: ReadonlyMap<string, RunningCall>;
}

/**
 * A getter, because a task may have a thousand running calls, and listing them for each event would be slow. All
 * states share one getter, so that they have the same shape. It is a property of the state itself, so that copies of
 * the state have its value.
 */
const ACTIVITY = {
  enumerable: true,
  get(this: Doing): Activity {
    return this.doing ?? callActivity(this, this.runningCalls);
  },
};

/** Adds `activity` to a state. It is computed when it is read. */
export function defineActivity<State extends Doing>(
  state: State,
): asserts state is State & { readonly activity: Activity } {
  Object.defineProperty(state, 'activity', ACTIVITY);
}
