import type { Usage } from './model.ts';

/** What an answer that ended without the provider's usage has used, as far as can be told from outside. */
export interface EstimatedUsage {
  readonly usage: Usage;
  readonly costUsd: number | null;
}

/** What an answer has used; the optional fields are not in older logs, nor where nothing was used. */
export interface AnswerUsage {
  /** The provider's own; nothing where it gave none. */
  readonly usage: Usage;
  /** `provider/id` of the one that answered. */
  readonly model?: string;
  /** Null: no price is known. */
  readonly costUsd?: number | null;
  /** Where the price is from. */
  readonly pricedBy?: string;
  readonly estimated?: EstimatedUsage;
}
