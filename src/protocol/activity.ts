import { openQuestions, type InboxState } from './inbox-state.ts';
import type { Question } from './question.ts';

/** What a running task is doing, for every view. */
export type Activity =
  | { readonly kind: 'idle' }
  | { readonly kind: 'connecting' }
  | { readonly kind: 'streaming' }
  | { readonly kind: 'waiting_to_retry'; readonly because: string }
  /** A rate limit, or want of memory: what it waits for, and until when (null: not known). */
  | { readonly kind: 'held'; readonly because: string; readonly untilMs: number | null }
  /** `asking`: tools that wait for a person. */
  | {
      readonly kind: 'tools';
      readonly running: readonly string[];
      readonly asking: readonly string[];
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

/** What its calls do: those that run, by id, and those that ask a person. */
export function callActivity(
  inbox: InboxState,
  runningCalls: ReadonlyMap<string, string>,
): Activity {
  const open = openQuestions(inbox);
  const asking = open.map(({ tool }) => tool);
  const running = open.length === 0 ? [...runningCalls.values()] : unasked(open, runningCalls);
  const isIdle = running.length === 0 && asking.length === 0;
  return isIdle ? { kind: 'idle' } : { kind: 'tools', running, asking };
}

function unasked(
  open: readonly Question[],
  runningCalls: ReadonlyMap<string, string>,
): readonly string[] {
  const asked = new Set(open.map(({ callId }) => callId));
  return [...runningCalls].flatMap(([id, tool]) => (asked.has(id) ? [] : [tool]));
}
