import type { Usage } from './model.ts';

/** The estimated usage of an answer that ended without the provider's numbers. */
export interface EstimatedUsage {
  readonly usage: Usage;
  readonly costUsd: number | null;
}

/** The usage of an answer. The optional fields are absent in older logs, and if nothing was used. */
export interface AnswerUsage {
  /** The provider's own; nothing where it gave none. */
  readonly usage: Usage;
  /** `provider/id` of the one that answered. */
  readonly model?: string;
  /** Null if no price is known. */
  readonly costUsd?: number | null;
  /** The source of the price. */
  readonly pricedBy?: string;
  readonly estimated?: EstimatedUsage;
}
