import type { OutputCap } from '../output-cap.ts';
import type { AssistantMessage } from '../message.ts';
import type { FinishReason } from '../model.ts';
import type { AnswerUsage } from '../used.ts';

/** A result that is taken out of the conversation, and the line in its place. */
export interface ClearedCall {
  readonly callId: string;
  readonly text: string;
}

/** Of a task's next request, in tokens. */
export interface ContextSize {
  readonly before: number;
  /** Once room was made. Before a summary has come: what is expected. */
  readonly after: number;
  /** Of that, what stands in no request yet: results of the newest calls, and what was said since. */
  readonly waiting: number;
  /** Of its model; null: not known. */
  readonly window: number | null;
}

/** What is done about a conversation that nears the window of its model. */
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
       * The parent whose conversation it is of: that one's messages are summarised for this task, which has none
       * of its own yet. Absent: its own.
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
      /** Of the boundary around a summary of the parent's conversation. Absent: it is of its own. */
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
      /** The sibling that has asked for that very summary; null: there is none, and why `because` says. */
      readonly from: string | null;
      /** Null: there is one. */
      readonly because: string | null;
    };
