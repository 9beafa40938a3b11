import type { OutputCap } from '../output-cap.ts';
import type { AssistantMessage } from '../message.ts';
import type { LoggedAnswer } from '../used.ts';

/** A result that is removed from the conversation, and the line that replaces it. */
export interface ClearedCall {
  readonly callId: string;
  readonly text: string;
}

/** The size of a task's next request in tokens. */
export interface ContextSize {
  readonly before: number;
  /** The size after compaction. Before a summary has arrived, this is the expected size. */
  readonly after: number;
  /** The part of `after` that no request contains yet: results of the newest calls, and later inputs. */
  readonly waiting: number;
  /** The context window of its model; null if it is not known. */
  readonly window: number | null;
}

/** The events by which a conversation that approaches the window of its model is made smaller. */
export type CompactionEvent =
  /** A line replaces the result of each of these old calls, before a request that would be too large. */
  | {
      readonly type: 'context.cleared';
      readonly calls: readonly ClearedCall[];
      readonly size: ContextSize;
    }
  /**
   * A request for a summary is about to be sent: the first messages of the conversation, followed by `ask`. The events
   * of turns report its progress, with the number of the turn that it makes room for.
   */
  | {
      readonly type: 'summary.started';
      readonly turn: number;
      /** The number of messages that are summarized. */
      readonly upTo: number;
      /** The texts that replace these messages, before the summary and in one message with it. */
      readonly head: readonly string[];
      readonly ask: string;
      readonly model: string;
      readonly toolChoice: 'auto' | 'none';
      /** The output cap of the request. Default: the model's own limit. */
      readonly outputCap?: OutputCap;
      readonly size: ContextSize;
      /**
       * The parent whose conversation is summarized for this task, which has none of its own yet. Absent if the
       * task's own conversation is summarized.
       */
      readonly of?: string;
    }
  /** The summary has arrived and replaces the messages that it summarizes. */
  | (LoggedAnswer & {
      readonly type: 'context.summarised';
      readonly summary: string;
      readonly size: ContextSize;
      /**
       * The nonce of the boundary around a summary of the parent's conversation. Absent for a summary of its
       * own conversation.
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
  /** A text replaces the summary of the parent's conversation, which the task cannot or need not request. */
  | {
      readonly type: 'context.handed';
      readonly text: string;
      /** The sibling that requested the same summary; null if there is none, for the reason in `because`. */
      readonly from: string | null;
      /** The reason why no summary was made, or null if a sibling requested it. */
      readonly because: string | null;
    };
