import type { OutputCap } from '../output-cap.ts';
import type { AssistantMessage } from '../message.ts';
import type { FinishReason } from '../model.ts';
import type { AnswerUsage } from '../used.ts';

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
  /** Before a request that would be too large: results of old calls are replaced by a line each. */
  | {
      readonly type: 'context.cleared';
      readonly calls: readonly ClearedCall[];
      readonly size: ContextSize;
    }
  /**
   * A request for a summary of the beginning of the conversation is about to be sent: those messages and
   * `ask`. What becomes of it the events of turns tell, with the number of the turn that it makes room for.
   */
  | {
      readonly type: 'summary.started';
      readonly turn: number;
      /** So many messages are summarised. */
      readonly upTo: number;
      /** What stands in their place before the summary: texts of one message. */
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
  /** It has come, and stands in the place of what it tells. */
  | (AnswerUsage & {
      readonly type: 'context.summarised';
      readonly turn: number;
      readonly summary: string;
      readonly costUsd: number | null;
      readonly reason: FinishReason;
      readonly model: string;
      readonly ms: number;
      readonly size: ContextSize;
      /**
       * The nonce of the boundary around a summary of the parent's conversation. Absent for a summary of its
       * own conversation.
       */
      readonly nonce?: string;
    })
  /** What came is no summary that can stand there. */
  | (AnswerUsage & {
      readonly type: 'summary.refused';
      readonly turn: number;
      readonly because: string;
      readonly message: AssistantMessage;
      readonly costUsd: number | null;
      readonly reason: FinishReason;
      readonly model: string;
      readonly ms: number;
    })
  /** The beginning of the conversation is taken out without a summary; `head` stands in its place. */
  | {
      readonly type: 'context.dropped';
      readonly upTo: number;
      readonly head: readonly string[];
      readonly because: string;
      readonly size: ContextSize;
    }
  /** What stands before the prompt of a task in the place of a summary that it need not or can't ask for. */
  | {
      readonly type: 'context.handed';
      readonly text: string;
      /** The sibling that requested the same summary; null if there is none, for the reason in `because`. */
      readonly from: string | null;
      /** Null: there is one. */
      readonly because: string | null;
    };
