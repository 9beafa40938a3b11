import type { OutputCap } from '../output-cap.ts';
import type { AssistantMessage } from '../message.ts';
import type { LoggedAnswer } from '../used.ts';

/** A result that is removed from the conversation, and the line that replaces it. */
export interface ClearedCall {
  /** The id of the call. */
  readonly callId: string;
  /** The line that replaces the result. */
  readonly text: string;
}

/** The size of a task's next request in tokens. */
export interface ContextSize {
  /** The size before compaction. */
  readonly before: number;
  /** The size after compaction. Before a summary has arrived, this is the expected size. */
  readonly after: number;
  /** The part of `after` that no request has contained yet: the results of the newest calls, and later inputs. */
  readonly waiting: number;
  /** The context window of the model; null if it is not known. */
  readonly window: number | null;
}

/** The events that make a conversation smaller when it approaches the context window of its model. */
export type CompactionEvent =
  /** The results of old calls are each replaced by one line, because the next request would be too large. */
  | {
      readonly type: 'context.cleared';
      readonly calls: readonly ClearedCall[];
      readonly size: ContextSize;
    }
  /**
   * A request for a summary is about to be sent. It contains the first messages of the conversation, followed by `ask`.
   * The events `turn.accepted`, `turn.retried` and so on report its progress under the number `turn`.
   */
  | {
      readonly type: 'summary.started';
      /** The number of the turn for which the summary makes room. */
      readonly turn: number;
      /** The number of messages that are summarized. */
      readonly upTo: number;
      /** The texts that replace these messages together with the summary, in one message and before the summary. */
      readonly head: readonly string[];
      /** The text that asks for the summary. */
      readonly ask: string;
      readonly model: string;
      readonly toolChoice: 'auto' | 'none';
      /** The output cap of the request. Default: the output limit of the model. */
      readonly outputCap?: OutputCap;
      readonly size: ContextSize;
      /**
       * The parent whose conversation is summarized for this task before its first turn. Absent if the conversation of
       * the task itself is summarized.
       */
      readonly of?: string;
    }
  /** The summary has arrived and replaces the messages that it summarizes. */
  | (LoggedAnswer & {
      readonly type: 'context.summarised';
      readonly summary: string;
      readonly size: ContextSize;
      /**
       * The nonce of the boundary around a summary of the parent's conversation. Absent for a summary of the task's own
       * conversation.
       */
      readonly nonce?: string;
    })
  /** The answer cannot be used as a summary, for the reason in `because`. */
  | (LoggedAnswer & {
      readonly type: 'summary.refused';
      readonly because: string;
      readonly message: AssistantMessage;
    })
  /** The first messages of the conversation are dropped without a summary. `head` replaces them. */
  | {
      readonly type: 'context.dropped';
      readonly upTo: number;
      readonly head: readonly string[];
      readonly because: string;
      readonly size: ContextSize;
    }
  /** A text is used as the summary of the parent's conversation, because the task cannot or need not request one. */
  | {
      readonly type: 'context.handed';
      readonly text: string;
      /** The sibling that requested the same summary; null if the text replaces a missing summary. */
      readonly from: string | null;
      /** The reason why there is no summary; null if a sibling requested it. */
      readonly because: string | null;
    };
