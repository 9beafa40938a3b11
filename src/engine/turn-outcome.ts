import type { ModelFailure } from '../protocol/model.ts';
import type { LimitHit } from '../protocol/stint.ts';

/** What came of one turn. */
export type TurnOutcome =
  | { readonly kind: 'answered' }
  | { readonly kind: 'limit'; readonly hit: LimitHit }
  /** Nothing was asked: there is room for an answer, and for no more calls before it. */
  | { readonly kind: 'last_turn'; readonly hit: LimitHit }
  | { readonly kind: 'failed'; readonly failure: ModelFailure }
  | { readonly kind: 'stopped' };
