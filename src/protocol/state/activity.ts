import type { AwaitedProgress } from '../model.ts';
import { openQuestions, type InboxState } from './questions.ts';
import type { Question } from '../question.ts';

/** The activity of a running task, which all front ends display. The times in `since` are steady times. */
export type Activity =
  /** The task has no work to do. */
  | { readonly kind: 'idle' }
  /** The request waits for the connection. */
  | { readonly kind: 'connecting' }
  /** The request is sent. `since`: the time of its start. */
  | { readonly kind: 'waiting_for_first_token'; readonly since: number }
  /** The answer arrives. */
  | { readonly kind: 'streaming' }
  /** The task requests a summary of its conversation, to make room in the context window. */
  | { readonly kind: 'compacting' }
  /** The work of the task is being checked. */
  | { readonly kind: 'checking' }
  /** The answer has begun, but no content has arrived since the time `since`. */
  | { readonly kind: 'stalled'; readonly since: number }
  /** A failed request is sent again after a wait. `because`: the failure. */
  | { readonly kind: 'waiting_to_retry'; readonly because: string }
  /** The task waits for a rate limit or for memory. `untilMs`: the end of the wait; null: it is not known. */
  | { readonly kind: 'held'; readonly because: string; readonly untilMs: number | null }
  /** Calls run. `running`: the tools of running calls. `asking`: the tools of calls that wait for a person. */
  | {
      readonly kind: 'tools';
      readonly running: readonly string[];
      readonly asking: readonly string[];
      /** The start of the oldest running call; null: no call runs. */
      readonly since: number | null;
    }
  /** The answer has ended, and children work in the background. */
  | { readonly kind: 'waiting_for_children' };

/** Creates the activity of a task that is held. `untilMs`: absent if the end of the wait is not known. */
export function createHeldActivity(hold: {
  readonly because: string;
  readonly untilMs?: number | null;
}): Activity {
  return { kind: 'held', because: hold.because, untilMs: hold.untilMs ?? null };
}

/** A running call: its tool, and the steady time of its start. */
export interface RunningCall {
  /** The canonical name of the tool. */
  readonly tool: string;
  /** The steady time of its start. */
  readonly since: number;
}

/** Creates the activity of a task whose request has made no progress since the steady time `since`. */
export function createSilentActivity(waitsFor: AwaitedProgress, since: number): Activity {
  switch (waitsFor) {
    case 'connection':
      return { kind: 'connecting' };
    case 'first_token':
      return { kind: 'waiting_for_first_token', since };
    case 'next_event':
      return { kind: 'stalled', since };
  }
}

/** Moves the start of an activity by `ms` milliseconds into the future. */
export function shiftActivity(activity: Activity, ms: number): Activity {
  if (ms === 0 || !('since' in activity) || activity.since === null) return activity;
  return { ...activity, since: activity.since + ms };
}

/** The word for a question of an MCP server among the tools that a task asks about. */
export const SERVER_QUESTION = 'question of a server';

/** Derives the activity from the open questions and the running calls, which are given by call id. */
function deriveCallActivity(
  inbox: InboxState,
  runningCalls: ReadonlyMap<string, RunningCall>,
): Activity {
  const open = openQuestions(inbox);
  const asking = open.map((question) =>
    question.kind === 'server' ? SERVER_QUESTION : question.tool,
  );
  const calls =
    open.length === 0 ? [...runningCalls.values()] : selectUnaskedCalls(open, runningCalls);
  if (calls.length === 0 && asking.length === 0) return { kind: 'idle' };
  const since = calls.length === 0 ? null : Math.min(...calls.map((each) => each.since));
  return { kind: 'tools', running: calls.map(({ tool }) => tool), asking, since };
}

/** Selects the running calls about which no question is open. */
function selectUnaskedCalls(
  open: readonly Question[],
  runningCalls: ReadonlyMap<string, RunningCall>,
): readonly RunningCall[] {
  const asked = new Set(open.map(({ callId }) => callId));
  return [...runningCalls].flatMap(([id, call]) => (asked.has(id) ? [] : [call]));
}

/** The parts of a task's state from which its activity is computed. */
interface ActivitySource extends InboxState {
  /** The activity; null: it follows from the running calls and the open questions. */
  readonly doing: Activity | null;
  readonly runningCalls: ReadonlyMap<string, RunningCall>;
}

/**
 * The property `activity` of a state. It is a getter, because a task may have a thousand running calls, and listing them
 * for each event would be slow. All states share this descriptor, so that V8 gives them the same shape. It is enumerable,
 * so that a copy of a state by spread contains the value.
 */
const ACTIVITY = {
  enumerable: true,
  get(this: ActivitySource): Activity {
    return this.doing ?? deriveCallActivity(this, this.runningCalls);
  },
};

/** Adds the property `activity` to a state. Its value is computed whenever it is read. */
export function defineActivity<State extends ActivitySource>(
  state: State,
): asserts state is State & { readonly activity: Activity } {
  Object.defineProperty(state, 'activity', ACTIVITY);
}
