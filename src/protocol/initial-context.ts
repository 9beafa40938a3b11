import type { Message } from './message.ts';
import type { RequestPrefix, ResolvedModel, Effort } from './model.ts';
import type { FileSeen } from './tool.ts';

/** Context that a task gets in addition to its prompt, as it was when the task was created. */
export interface InitialContext {
  /** The text before its prompt. */
  readonly text: string;
  /** Files whose content is part of the text. They count as read. */
  readonly read: readonly FileSeen[];
}

/** A statement of a person or a task in a conversation. */
export interface SaidWords {
  /** The index of the message that holds it. */
  readonly at: number;
  /** `user`, or the id of a task. */
  readonly from: string;
  readonly text: string;
}

/** The tokens that the first messages of a conversation take, including everything before them. */
export interface Counted {
  readonly tokens: number;
  readonly messages: number;
  /** The tokens of the last message if it is an answer, including hidden thinking. */
  readonly output: number;
}

/** The conversation of its parent that a task gets. */
interface ParentConversation {
  /** The id of the parent. */
  readonly task: string;
  /** The agent type that the provider's cache knows the conversation by. */
  readonly agent: string;
  /** All messages to the answer whose call created the task, with the results of its calls that the task sees. */
  readonly messages: readonly Message[];
  /** Hashes of the attachments in its messages, which are kept as long as this log exists. Default: none. */
  readonly blobs?: readonly string[];
}

/** The conversation of its parent that a task continues. */
export interface ForkedConversation extends ParentConversation {
  /** The number of the parent's newest event at that time. */
  readonly seq: number;
  /**
   * Statements of people and tasks in the messages, which are kept when the messages are summarized. Absent in
   * older logs.
   */
  readonly said?: readonly SaidWords[];
  /** The tokens of the first messages as the provider counted them. Absent if they were not counted. */
  readonly counted?: Counted;
  /** Files as they appear in it, which can be edited without reading them again. */
  readonly known: readonly FileSeen[];
}

/**
 * The conversation of its parent that is summarized for a task. The task requests the summary itself before its
 * first turn, with the same bytes that its parent sent, so that the provider's cache can be used. All tasks that one
 * answer created have the same messages.
 */
export interface SummarizedConversation extends ParentConversation {
  /** The parent's turn whose answer created the task. */
  readonly turn: number;
  /** The complete prefix of its requests. */
  readonly prefix: RequestPrefix;
  /** The model of the conversation, which also writes the summary. */
  readonly model: ResolvedModel;
  /** Default: the model's own. */
  readonly effort?: Effort;
}

/** A summary of the parent's conversation, and its progress. */
export interface SummaryTransfer {
  readonly of: SummarizedConversation;
  /** The text before its prompt; null until it has arrived. The task sends no request of its own before. */
  readonly text: string | null;
  /** True if the text is the summary, and not a replacement for it. */
  readonly isSummary: boolean;
}
