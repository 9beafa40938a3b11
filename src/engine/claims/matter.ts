import type { ClaimFlag } from '../../protocol/result.ts';
import type { Asked } from './asked-for.ts';
import type { Clause } from './clause.ts';
import type { ClaimFacts } from './facts.ts';

/** What each clause is held against, and the answer that it stands in. */
export interface Matter {
  readonly facts: ClaimFacts;
  /** What the prompt asks for. */
  asked(): Asked;
  readonly clauses: readonly Clause[];
}

/** A flag, but for the words that it is about. */
export type Objection = Omit<ClaimFlag, 'claim'>;
