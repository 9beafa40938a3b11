import { type ModelFailure, type ModelPart, type Usage, NO_USAGE } from '../../protocol/model.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import { limitMessage } from '../limits/limits.ts';

/** The limit that stands against a try of a request. */
export interface BudgetShortfall {
  readonly hit: LimitHit;
  /** Whether the same request with a lower output cap has room. */
  readonly fitsLowered: boolean;
}

/** What came of one turn. */
export type TurnOutcome =
  | { readonly kind: 'answered' }
  | { readonly kind: 'limit'; readonly hit: LimitHit }
  /** Nothing was asked: there is room for an answer, and for no more calls before it. */
  | { readonly kind: 'last_turn'; readonly hit: LimitHit }
  /** No room is left to repeat the request as it was; with a lower output cap it can be made anew. */
  | { readonly kind: 'begin_again' }
  | { readonly kind: 'failed'; readonly failure: ModelFailure }
  | { readonly kind: 'stopped' };

/** The last part of an answer. */
export type FinalPart = Extract<ModelPart, { type: 'finished' | 'failed' }>;

/**
 * The end of an answer; `estimated`: what it has used, where the provider did not say; `noRoom`: the
 * limit that left no room for it by the time that it could be asked for; `cut`: the text of one that broke off.
 */
export type ModelAnswer = FinalPart & {
  readonly estimated?: Usage;
  readonly shortfall?: BudgetShortfall;
  readonly partialText?: string;
};

type TurnFailed = Extract<EventBody, { type: 'turn.failed' }>;

/**
 * The end of a turn whose request cannot be repeated as it was, because less of a budget is left by now. The
 * task makes the request anew, with a lower output cap.
 */
export function lowerCapFailure(turn: number, hit: LimitHit): TurnFailed {
  const message = `${limitMessage(hit)}; the request is made anew with a lower output cap`;
  // Retryable as no other cancelled request is: a rerun of the log tells it by that.
  const failure = { kind: 'cancelled', message, retryable: true } as const;
  return { type: 'turn.failed', turn, failure, usage: NO_USAGE };
}

export function isLowerCapFailure(event: EventBody | undefined): boolean {
  if (event?.type !== 'turn.failed') return false;
  return event.failure.kind === 'cancelled' && event.failure.retryable;
}
