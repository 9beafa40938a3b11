import type { QuotedItem } from './quoted-item.ts';

/** A text that enters the conversation from outside the loop with the next request, exactly once. */
export interface TaskInput {
  /** An id that is the same for the same input. A second input with the same id is ignored. */
  readonly id: string;
  /**
   * `result`: a background task or shell of this task has ended; several of them are combined in one notice.
   */
  readonly kind: 'prompt' | 'message' | 'result' | 'notice';
  /** The id of a task or shell, or `user`, or `muster`. */
  readonly from: string;
  readonly text: string;
  /** Tasks of the sender that the text names. The receiver may see and address them from now on. */
  readonly handed?: readonly string[];
  /** The nonce of the boundary around a `result`, which quotes outside text. */
  readonly nonce?: string;
  /** Agent types that a person named in it with `@`. The next answer must call each of them. */
  readonly mentions?: readonly string[];
  /** Items that a person attached. Default: none. */
  readonly enclosed?: readonly QuotedItem[];
}
