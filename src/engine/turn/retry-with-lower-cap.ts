import type { EventBody } from '../../protocol/events/event.ts';
import { NO_USAGE } from '../../protocol/model.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';
import { limitMessage } from '../limits/limit-message.ts';

type TurnFailed = Extract<EventBody, { type: 'turn.failed' }>;

/**
 * The end of a turn whose request cannot be repeated as it was, because less of a budget is left by now. The
 * task makes the request anew, with a lower output cap.
 */
export function closedForLowerCap(turn: number, hit: LimitHit): TurnFailed {
  const message = `${limitMessage(hit)}; the request is made anew with a lower output cap`;
  // Retryable as no other cancelled request is: a rerun of the log tells it by that.
  const failure = { kind: 'cancelled', message, retryable: true } as const;
  return { type: 'turn.failed', turn, failure, usage: NO_USAGE };
}

export function isClosedForLowerCap(event: EventBody | undefined): boolean {
  if (event?.type !== 'turn.failed') return false;
  return event.failure.kind === 'cancelled' && event.failure.retryable;
}
