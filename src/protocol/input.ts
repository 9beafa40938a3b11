import type { QuotedItem } from './quoted-item.ts';

/** Text that enters the conversation from outside the loop, in the next request, exactly once. */
export interface TaskInput {
  /** The same for the same thing said: a second one of an id is not taken. */
  readonly id: string;
  /** `result`: a background task or shell of this task has ended; several are told as one notice. */
  readonly kind: 'prompt' | 'message' | 'result' | 'notice';
  /** The id of a task or shell, or `user`, or `muster`. */
  readonly from: string;
  readonly text: string;
  /** Tasks of the sender that the text names, and that the receiver may now see and reach. */
  readonly handed?: readonly string[];
  /** Of a `result`: it quotes outside text, and is sent between boundaries of this nonce. */
  readonly nonce?: string;
  /** Agent types that a person named in it with `@`: the next answer calls each of them. */
  readonly mentions?: readonly string[];
  /** What a person lays beside it. Absent: nothing. */
  readonly enclosed?: readonly QuotedItem[];
}
