import type { FinishReason, Usage } from './model.ts';

/** The estimated usage of an answer that ended without the provider's numbers. */
export interface EstimatedUsage {
  readonly usage: Usage;
  readonly costUsd: number | null;
}

/** The usage of an answer. The optional fields are absent in older logs, and if nothing was used. */
export interface AnswerUsage {
  /** The provider's own numbers; all zero if it gave none. */
  readonly usage: Usage;
  /** The model that answered, as `provider/id`. */
  readonly model?: string;
  /** The cost in USD, or null if no price is known. */
  readonly costUsd?: number | null;
  /** The source of the price. */
  readonly pricedBy?: string;
  readonly estimated?: EstimatedUsage;
}

/** The details that the log records of a complete answer. */
export interface LoggedAnswer extends AnswerUsage {
  readonly turn: number;
  readonly costUsd: number | null;
  readonly reason: FinishReason;
  readonly model: string;
  /** Milliseconds from the request to the end of the answer. */
  readonly ms: number;
}
