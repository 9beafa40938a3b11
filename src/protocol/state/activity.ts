import type { Awaited } from '../model.ts';
import { openQuestions, type InboxState } from './questions.ts';
import type { Question } from '../question.ts';

/** The activity of a running task, for every view. */
export type Activity =
  | { readonly kind: 'idle' }
  | { readonly kind: 'connecting' }
  /** The request is out. `since`: the steady time at which it began, as everywhere here. */
  | { readonly kind: 'waiting_for_first_token'; readonly since: number }
  | { readonly kind: 'streaming' }
  /** A summary of its conversation is asked for, to make room in its window. */
  | { readonly kind: 'compacting' }
  /** The answer has begun, and nothing more of it has come since. */
  | { readonly kind: 'stalled'; readonly since: number }
  | { readonly kind: 'waiting_to_retry'; readonly because: string }
  /** A rate limit, or want of memory: what it waits for, and until when (null: not known). */
  | { readonly kind: 'held'; readonly because: string; readonly untilMs: number | null }
  /** `asking`: tools that wait for a person. */
  | {
      readonly kind: 'tools';
      readonly running: readonly string[];
      readonly asking: readonly string[];
      /** When the oldest of those that run began; null: none runs. */
      readonly since: number | null;
    }
  /** Its answer has ended; children are at work in the background. */
  | { readonly kind: 'waiting_for_children' };

/** `untilMs` absent: not known. */
export function heldActivity(hold: {
  readonly because: string;
  readonly untilMs?: number | null;
}): Activity {
  return { kind: 'held', because: hold.because, untilMs: hold.untilMs ?? null };
}

/** A call under way: its tool, and when it began. */
export interface RunningCall {
  readonly tool: string;
  readonly since: number;
}

/** What a request without news waits for, from `ts` on back. */
export function quietActivity(waitsFor: Awaited, since: number): Activity {
  switch (waitsFor) {
    case 'connection':
      return { kind: 'connecting' };
    case 'first_token':
      return { kind: 'waiting_for_first_token', since };
    case 'next_event':
      return { kind: 'stalled', since };
  }
}

/** Returns the activity with the time since when it lasts put later by `ms`. */
export function shiftActivity(activity: Activity, ms: number): Activity {
  if (ms === 0 || !('since' in activity) || activity.since === null) return activity;
  return { ...activity, since: activity.since + ms };
}

/** What its calls do: those that run, by id, and those that ask a person. */
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
  /** Null: its calls tell it. */
  readonly doing: Activity | null;
  readonly runningCalls: ReadonlyMap<string, RunningCall>;
}

/**
 * A task may have a thousand calls at work, each of which changes what it does: they are listed when
 * somebody looks. One getter for all, so that all states have one shape; their own, so that copies
 * have its value.
 */
const ACTIVITY = {
  enumerable: true,
  get(this: Doing): Activity {
    return this.doing ?? callActivity(this, this.runningCalls);
  },
};

/** Gives a state its `activity`, made when it is read. */
export function defineActivity<State extends Doing>(
  state: State,
): asserts state is State & { readonly activity: Activity } {
  Object.defineProperty(state, 'activity', ACTIVITY);
}
