import { type ModelFailure, type ModelPart, type Usage, NO_USAGE } from '../../protocol/model.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import { limitMessage } from '../limits/limit-message.ts';

/** The limit that leaves no budget for a try of a request. */
export interface BudgetShortfall {
  readonly hit: LimitHit;
  /** True if the same request would fit with a lower output cap. */
  readonly fitsLowered: boolean;
}

/** The outcome of one turn. */
export type TurnOutcome =
  | { readonly kind: 'answered' }
  | { readonly kind: 'limit'; readonly hit: LimitHit }
  /** No request was sent: the budget allows a last answer, but no more calls before it. */
  | { readonly kind: 'last_turn'; readonly hit: LimitHit }
  /** The budget does not allow the same request again, but one with a lower output cap. */
  | { readonly kind: 'begin_again' }
  | { readonly kind: 'failed'; readonly failure: ModelFailure }
  | { readonly kind: 'stopped' };

/** The last part of an answer. */
export type FinalPart = Extract<ModelPart, { type: 'finished' | 'failed' }>;

/**
 * The end of an answer.
 *
 * - `estimated`: the tokens used, if the provider did not report them
 * - `shortfall`: the limit that left no budget for the request by the time that it could be sent
 * - `partialText`: the text of an answer that broke off
 */
export type ModelAnswer = FinalPart & {
  readonly estimated?: Usage;
  readonly shortfall?: BudgetShortfall;
  readonly partialText?: string;
};

type TurnFailed = Extract<EventBody, { type: 'turn.failed' }>;

/**
 * Builds the event that ends a turn whose request no longer fits into the budget. The task then makes a new
 * request with a lower output cap.
 */
export function lowerCapFailure(turn: number, hit: LimitHit): TurnFailed {
  const message = `${limitMessage(hit)}; the request is made anew with a lower output cap`;
  // No other cancelled request is retryable: a rerun of the log recognizes this one by that.
  const failure = { kind: 'cancelled', message, retryable: true } as const;
  return { type: 'turn.failed', turn, failure, usage: NO_USAGE };
}

/** Says whether an event is one that `lowerCapFailure` built. */
export function isLowerCapFailure(event: EventBody | undefined): boolean {
  if (event?.type !== 'turn.failed') return false;
  return event.failure.kind === 'cancelled' && event.failure.retryable;
}
