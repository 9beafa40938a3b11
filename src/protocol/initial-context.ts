import type { Message } from './message.ts';
import type { RequestPrefix, ResolvedModel, Effort } from './model.ts';
import type { FileSeen } from './tool.ts';

/** Context that a task gets in addition to its prompt. It is determined when the task is created. */
export interface InitialContext {
  /** The text before the prompt. */
  readonly text: string;
  /** The files whose content is part of the text. They count as read by the task. */
  readonly read: readonly FileSeen[];
}

/** A message of a person or a task in a conversation. It is kept verbatim when the conversation is summarized. */
export interface Statement {
  /** The index of the message in the conversation that contains the statement. */
  readonly at: number;
  /** `user`, or the id of a task. */
  readonly from: string;
  /** The text. */
  readonly text: string;
}

/** The number of tokens of the first messages of a conversation, including the system prompt and the tools. */
export interface CountedTokens {
  /** The number of tokens. */
  readonly tokens: number;
  /** The number of messages that were counted. */
  readonly messages: number;
  /** The tokens of the last counted message if it is an answer, including hidden thinking. */
  readonly output: number;
}

/** The conversation of the parent that a task gets. */
export interface ParentConversation {
  /** The id of the parent. */
  readonly task: string;
  /** The agent type in the cache key of the conversation's requests. The task uses the same key, to reuse the cache. */
  readonly agent: string;
  /** All messages up to the answer whose call created the task, and results for the calls of this answer. */
  readonly messages: readonly Message[];
  /** The hashes of the attachments in the messages. Their blobs are stored as long as this log exists. Default: none. */
  readonly blobs?: readonly string[];
}

/** The conversation of the parent that a task continues. */
export interface ForkedConversation extends ParentConversation {
  /** The number of the parent's newest event when the task was created. */
  readonly seq: number;
  /**
   * The statements of people and tasks in the messages. Absent in older logs.
   */
  readonly said?: readonly Statement[];
  /** The number of tokens of the first messages, as the provider counted them. Absent if it did not count them. */
  readonly counted?: CountedTokens;
  /** The files whose content is in the conversation. The task can edit them without reading them again. */
  readonly known: readonly FileSeen[];
  /** The tools of MCP servers that the parent has found, as the result of ToolSearch describes each of them. Default: none. */
  readonly foundTools?: readonly string[];
}

/**
 * The conversation of the parent that is summarized for a task. The task requests the summary before its first turn. The
 * request begins with the same bytes as the requests of the parent, so that the provider's cache can be used. All tasks
 * that one answer created have the same messages.
 */
export interface SummarizedConversation extends ParentConversation {
  /** The parent's turn whose answer created the task. */
  readonly turn: number;
  /** The complete prefix of the conversation's requests. */
  readonly prefix: RequestPrefix;
  /** The model of the conversation, which also writes the summary. */
  readonly model: ResolvedModel;
  /** The effort of the conversation's requests. Default: the default of the model. */
  readonly effort?: Effort;
}

/** The transfer of a summary of the parent's conversation to a task. */
export interface SummaryTransfer {
  /** The conversation that is summarized. */
  readonly of: SummarizedConversation;
  /** The text before the prompt; null until the text has arrived. Until then, the task sends no other request. */
  readonly text: string | null;
  /** True if the text is the summary, and not a replacement for a missing summary. */
  readonly isSummary: boolean;
}
