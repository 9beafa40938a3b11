import type { Message } from './message.ts';
import type { Effort } from './agent.ts';
import type { RequestPrefix, ResolvedModel } from './model.ts';
import type { FileSeen } from './tool.ts';

/** What a task got beside its prompt, as it was when the task was made. */
export interface InitialContext {
  /** Stands before the prompt, in the same message, as it is: what came from outside is marked in it. */
  readonly text: string;
  /** Files whose content stands in it: they count as read. */
  readonly read: readonly FileSeen[];
}

export interface SaidWords {
  /** The index of the message that holds it. */
  readonly at: number;
  /** `user`, or the id of a task. */
  readonly from: string;
  readonly text: string;
}

/** What so many of the first messages of a conversation take, with all that stands before them. */
export interface Counted {
  readonly tokens: number;
  readonly messages: number;
  /** Of the tokens those of the last message, where it is an answer: also what was thought and not shown. */
  readonly output: number;
}

/** The conversation of its parent that a task goes on with. */
export interface ForkedConversation {
  /** Whose it is, and the number of that one's newest event by then. */
  readonly task: string;
  readonly seq: number;
  /** The agent type that the provider's cache knows the conversation by. */
  readonly agent: string;
  /** All of it, to the answer with the call that made the task, and what that call came to here. */
  readonly messages: readonly Message[];
  /** What people and tasks have said in them: kept where they are summarised. Absent in older logs. */
  readonly said?: readonly SaidWords[];
  /** What the first of them take, as its provider has counted. Absent: nobody has. */
  readonly counted?: Counted;
  /** Hashes of what its messages show, which keep that as long as this log is there. Absent: nothing. */
  readonly blobs?: readonly string[];
  /** Files as they stand in it: an edit needs no second look. */
  readonly known: readonly FileSeen[];
}

/**
 * The conversation of its parent that a task gets a summary of. It asks for that itself before its first
 * turn, with the bytes that its parent has sent, so that a provider's cache serves them.
 */
export interface SummarizedConversation {
  /** Whose it is, and the turn of that one whose answer made the task. */
  readonly task: string;
  readonly turn: number;
  /** The agent type that the provider's cache knows the conversation by. */
  readonly agent: string;
  /** All of it, to that answer, and what its calls came to here: the same for all that they have made. */
  readonly messages: readonly Message[];
  /** Hashes of what its messages show, which keep that as long as this log is there. Absent: nothing. */
  readonly blobs?: readonly string[];
  /** Whole, as its requests began. */
  readonly prefix: RequestPrefix;
  /** The one that it was held with, and that is asked. */
  readonly model: ResolvedModel;
  /** Absent: the model's own. */
  readonly effort?: Effort;
}

/** How far a task has come with that. */
export interface SummaryTransfer {
  readonly of: SummarizedConversation;
  /** What stands before its prompt; null: it is to come yet, and no request of its own goes out before. */
  readonly text: string | null;
  /** Whether that is the summary, and no stopgap for one. */
  readonly isSummary: boolean;
}
