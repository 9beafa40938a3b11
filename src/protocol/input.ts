import type { QuotedItem } from './quoted-item.ts';

/** A text that enters the conversation from outside the loop. It is part of exactly one request: the next one. */
export interface TaskInput {
  /** The id. A second input with the same id is ignored. */
  readonly id: string;
  /**
   * `result`: the end of a background task or shell of this task. All ends in one request are combined in one notice.
   */
  readonly kind: 'prompt' | 'message' | 'result' | 'notice';
  /** The id of a task or shell, or `user`, or `muster`. */
  readonly from: string;
  /** The text for the model. */
  readonly text: string;
  /** The ids of the sender's tasks that the text names. The receiver may see and address these tasks from now on. */
  readonly handed?: readonly string[];
  /** The nonce of the boundary around a `result`, which quotes outside text. */
  readonly nonce?: string;
  /** The agent types that a person named in the text with `@`. The next answer must call each of them. */
  readonly mentions?: readonly string[];
  /** The items that a person attached to the text. Default: none. */
  readonly enclosed?: readonly QuotedItem[];
}
