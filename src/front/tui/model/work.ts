import type { TaskEvent } from '../../../protocol/events/event.ts';
import { paidTokens } from '../../../protocol/model.ts';
import { steadyTime } from '../../../protocol/state/steady-time.ts';
import type { AnswerUsage } from '../../../protocol/used.ts';
import { textStart } from './cut-text.ts';
import type { EntryBody, RetryEntry } from './entry.ts';

/** The work on a message: the steady time of its start, and what it has used so far. */
export interface OngoingWork {
  readonly since: number;
  readonly tokens: number;
  /** The cost; null if that of an answer is not known. */
  readonly costUsd: number | null;
}

type Used = Pick<OngoingWork, 'tokens' | 'costUsd'>;

/** The minimum time of work that is reported when it ends. */
const MIN_WORK_MS = 5_000;

/** Begins the work with a message, and adds up what it and the children that end meanwhile use. */
export function measureWork(work: OngoingWork | null, event: TaskEvent): OngoingWork | null {
  switch (event.type) {
    case 'task.created':
    case 'task.resumed':
    case 'turn.started':
      return work ?? { since: steadyTime(event), tokens: 0, costUsd: 0 };
    case 'turn.ended':
    case 'turn.retried':
    case 'turn.failed':
      return work === null ? null : addUse(work, usedBy(event));
    case 'child.ended':
      return work === null ? null : addUse(work, event.spent);
    default:
      return work;
  }
}

function usedBy({ usage, costUsd = 0 }: AnswerUsage): Used {
  return { tokens: paidTokens(usage), costUsd };
}

function addUse(work: OngoingWork, used: Used): OngoingWork {
  const isKnown = work.costUsd !== null && used.costUsd !== null;
  return {
    ...work,
    tokens: work.tokens + used.tokens,
    costUsd: isKnown ? (work.costUsd ?? 0) + (used.costUsd ?? 0) : null,
  };
}

/** Whether an answer ends the work: it has no calls, and was not cut so that it continues. */
export function isFinalAnswer({
  reason,
  message,
}: Extract<TaskEvent, { type: 'turn.ended' }>): boolean {
  return reason !== 'length' && message.content.every(({ type }) => type !== 'tool_call');
}

/** Returns an entry about work that has ended; null if it was short. */
export function workedEntry(work: OngoingWork | null, event: TaskEvent): EntryBody | null {
  if (work === null) return null;
  const { since, tokens, costUsd } = work;
  const ms = steadyTime(event) - since;
  return ms < MIN_WORK_MS ? null : { kind: 'worked', ms, tokens, costUsd };
}

export type RetriedTurn = Extract<TaskEvent, { type: 'turn.retried' }>;

const MAX_REASON = 4 * 1024;

/** Returns the entry of a request that is sent again. `earlier` is its entry after the try before. */
export function retryEntry(
  event: RetriedTurn,
  { earlier, maxTries }: { readonly earlier: RetryEntry | null } & Pick<RetryEntry, 'maxTries'>,
): RetryEntry {
  return {
    kind: 'retry',
    turn: event.turn,
    because: textStart(event.failure.message, MAX_REASON),
    // A try whose process died has no number.
    failed: Math.max(event.attempt, (earlier?.failed ?? 0) + 1),
    maxTries,
    nextAt: steadyTime(event) + event.waitMs,
  };
}
