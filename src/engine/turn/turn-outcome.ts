import type { ModelFailure } from '../../protocol/model.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';

/** The limit that stands against a try of a request. */
export interface NoRoom {
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
