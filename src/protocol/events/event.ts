import type { OutputCap } from '../output-cap.ts';
import type { ErrorInfo } from '../../base/errors.ts';
import type { JsonValue } from '../../base/json.ts';
import type { Attachment } from '../attachment.ts';
import type { EndReason } from '../end-reason.ts';
import type { TaskInput } from '../input.ts';
import type { CompactionEvent } from './compaction-event.ts';
import type { AssistantMessage } from '../message.ts';
import type {
  Amount,
  FailureKind,
  FinishReason,
  ModelFailure,
  OutputShare,
  ResolvedModel,
  Silence,
  Work,
} from '../model.ts';
import type { Decision, ModeGrant, PermissionMode, PermissionRule, Rights } from '../permission.ts';
import type { Answer, AnsweredBy, GrantScope, Question } from '../question.ts';
import type { Repairs } from '../repair.ts';
import type { ChildReceipt, ClaimFlag, EndStatus, ShellEnd } from '../result.ts';
import type { FileLeft, Rewound } from './rewound.ts';
import type { LoopSettings, TaskLimits, TaskSpec } from '../task.ts';
import type { CallDetails, FileChange, FileSeen, TodoItem } from '../tool.ts';
import type { AnswerUsage } from '../used.ts';

/**
 * The version of the log format that this code writes. Older versions replay; newer ones are refused. Version 2
 * added tasks that live on (resumes, background children, shells). Version 3 added network rights, questions to
 * people, their answers, and the rules that answers grant. Version 4 added waits for rate limits and for
 * memory, runs of templates, and reused results.
 */
export const LOG_VERSION = 4;

/** The fields that every event has in addition to its own. */
export interface EventStamp {
  readonly v: number;
  /** From 0, without a gap within one log. */
  readonly seq: number;
  /** Milliseconds since the epoch, by the wall clock. */
  readonly ts: number;
  /**
   * Milliseconds by which the wall clock was ahead of where it would be if nobody had set it since the writing
   * process started. `ts - clockShift` gives durations. Absent if the difference is less than a tenth of a
   * second, and in older logs.
   */
  readonly clockShift?: number;
  readonly task: string;
  /** A number that grows by one with each owner of the log, so that a writer that lost the log is shut out. */
  readonly epoch: number;
}

export const NOTICE_LEVELS = ['info', 'warning', 'error'] as const;
export type NoticeLevel = (typeof NOTICE_LEVELS)[number];

/** The content of an event, by type. */
export type EventBody =
  | { readonly type: 'task.created'; readonly spec: TaskSpec }
  /** An owner took the log, first or after another one. */
  | { readonly type: 'task.claimed'; readonly pid: number; readonly host: string }
  /** It is not set to work although it might be: what it waits for. */
  | { readonly type: 'task.held'; readonly because: string }
  /** It has a slot (again). */
  | {
      readonly type: 'task.started';
      /** Settings of its loop under this owner, besides its own limits. Absent in older logs. */
      readonly settings?: LoopSettings;
    }
  /** It goes on after its end. */
  | {
      readonly type: 'task.resumed';
      /** A task id, or `user`. */
      readonly by: string;
      /** The call of the resuming task; null for a person. */
      readonly callId: string | null;
      /**
       * Set if only its context is summarized, and it then ends as it had ended before. `keep`: the content
       * that a person wants to keep.
       */
      readonly compacts?: { readonly keep: string | null };
    }
  /**
   * It asks no model: an earlier task was given the same work, and all that it read would be read the same
   * now. The text is its answer.
   */
  | {
      readonly type: 'task.reused';
      /** The earlier task, and when it ended. */
      readonly of: string;
      readonly at: number;
      /** What it read, with all below it, as it was found again. */
      readonly read: readonly FileSeen[];
      readonly text: string;
    }
  /** No result could be reused for it. Its own may be, for work of this key. */
  | { readonly type: 'reuse.missed'; readonly key: string; readonly because: string }
  /** It goes on from one of its earlier events; what came since is cut off. Written before files are touched. */
  | (Rewound & { readonly type: 'task.rewound' })
  /** The files of that rewind are as it has them, but for those that it names. */
  | {
      readonly type: 'files.restored';
      /** Its number. */
      readonly rewind: number;
      readonly left: readonly FileLeft[];
    }
  /** From here on these hold instead of what its specification said. */
  | {
      readonly type: 'terms.changed';
      readonly rights: Rights;
      readonly limits: TaskLimits;
      readonly model: ResolvedModel;
      /** Set: the model is one that stands in for another, until the task ends. */
      readonly fallback?: {
        /** `provider/id` of the one that failed. */
        readonly from: string;
        readonly failure: FailureKind;
      };
    }
  /** Something to say to the model waits for the next request. */
  | { readonly type: 'input.queued'; readonly input: TaskInput }
  /** These need not be said any more, or ever: the model has read them in the outcome of a call. */
  | { readonly type: 'input.withdrawn'; readonly ids: readonly string[] }
  /**
   * A request is about to be sent: the intent. Its messages are those of the fold up to here with
   * `inputs` appended in this order, so a repeat after a crash is byte-identical.
   */
  | {
      readonly type: 'turn.started';
      readonly turn: number;
      readonly inputs: readonly string[];
      readonly model: string;
      /** `none` for the last turn after a limit. */
      readonly toolChoice: 'auto' | 'none';
      /** The output cap of the request. Default: the model's own limit. */
      readonly outputCap?: OutputCap;
    }
  /** A rate limit holds a request back; once for each time that it is sent. */
  | {
      readonly type: 'turn.held';
      readonly turn: number;
      /** What is waited for: "the rate limit of …". */
      readonly because: string;
      /** Milliseconds since the epoch; null: not known. */
      readonly untilMs: number | null;
    }
  /** The first byte of the answer arrived: what the request held is delivered. */
  | {
      readonly type: 'turn.accepted';
      readonly turn: number;
      /** A digest of each part that the request adds to the one before it. Absent in older logs. */
      readonly added?: readonly string[];
    }
  /** Nothing of the answer has come for a while: since when, and what is waited for. */
  | (Silence & { readonly type: 'turn.quiet'; readonly turn: number })
  /** It has come on after that. */
  | { readonly type: 'turn.flowing'; readonly turn: number }
  | (AnswerUsage & {
      readonly type: 'turn.retried';
      readonly turn: number;
      /** From 1; 0: it was asked by a process that died before the answer ended. */
      readonly attempt: number;
      readonly failure: ModelFailure;
      readonly waitMs: number;
      /** Repairs in the answer. Default: none, also in older logs. */
      readonly repairs?: Repairs;
    })
  | (AnswerUsage & {
      readonly type: 'turn.ended';
      readonly turn: number;
      readonly message: AssistantMessage;
      readonly costUsd: number | null;
      readonly reason: FinishReason;
      readonly model: string;
      readonly ms: number;
      /** Repairs in the answer. Default: none, also in older logs. */
      readonly repairs?: Repairs;
    })
  | (AnswerUsage & {
      readonly type: 'turn.failed';
      readonly turn: number;
      readonly failure: ModelFailure;
      /** What had come of the answer, its beginning where it is long. Absent: nothing. */
      readonly text?: string;
      /** Repairs in the answer. Default: none, also in older logs. */
      readonly repairs?: Repairs;
    })
  /**
   * A person wants what it does now to end, and what runs for it in the background to go on: it asks its model
   * again when it is told something.
   */
  | {
      readonly type: 'turn.interrupted';
      /** Of the notice that tells its model. */
      readonly input: string;
      readonly because: string;
    }
  | CompactionEvent
  /** The intent of a call; durable before an effect. `tool` is canonical. */
  | {
      readonly type: 'call.started';
      readonly callId: string;
      readonly tool: string;
      readonly input: JsonValue;
    }
  /** The outcome of a call: what the model gets. */
  | {
      readonly type: 'call.ended';
      readonly callId: string;
      readonly tool: string;
      readonly text: string;
      /**
       * Set: the text came from outside (files, commands, other agents). It stands here as it came; a
       * request holds it between boundaries of this nonce, byte for byte the same each time.
       */
      readonly nonce?: string;
      /** Images and documents that go with the text. Absent: none. */
      readonly attachments?: readonly Attachment[];
      readonly error: ErrorInfo['code'] | null;
      readonly facts: CallDetails;
      readonly ms: number;
    }
  /** A call that did not run: it got an error result, and here is why. */
  | {
      readonly type: 'call.refused';
      readonly callId: string;
      readonly tool: string;
      readonly text: string;
      readonly error: ErrorInfo['code'];
      readonly decision: Decision | null;
      /** It was made too often in a row. */
      readonly repeated?: true;
    }
  /** A call waits for a person. A later one for the same call stands in its place. */
  | {
      readonly type: 'question.asked';
      readonly question: Question;
      /** sha256 of all that the call would do: an answer is for that alone. */
      readonly digest: string;
      /** Where nobody is there to answer: its task is parked. */
      readonly parks: boolean;
    }
  | {
      readonly type: 'question.answered';
      /** Its id. */
      readonly question: string;
      readonly callId: string;
      readonly answer: Answer;
      readonly by: AnsweredBy;
    }
  /** An "always". That of scope `task` acts by standing here, the others are kept elsewhere, too. */
  | {
      readonly type: 'rights.granted';
      readonly rule: PermissionRule;
      readonly scope: GrantScope;
      readonly by: 'user';
      /** The question that it answers. */
      readonly question: string;
    }
  /**
   * The user's grant of a wider mode to an agent. That of scope `task` acts by standing here, for this task and
   * all below it; the others are kept elsewhere, and stand here as a record that this task has its mode by one.
   */
  | {
      readonly type: 'mode.granted';
      readonly grant: ModeGrant;
      readonly scope: GrantScope;
      readonly by: 'user';
      /** The mode that this task would have without it. Absent: it was not made by it. */
      readonly without?: PermissionMode;
      /** The question that it answers. Absent: it was given by a flag or a file. */
      readonly question?: string;
    }
  /**
   * Its process leaves it in order, since nothing of its tree can go on without an answer: ids of the
   * questions of this task and all below it.
   */
  | { readonly type: 'task.parked'; readonly questions: readonly string[] }
  /** Written before the child's log is made. */
  | {
      readonly type: 'child.created';
      readonly child: string;
      readonly callId: string;
      /** Its end is told as a notice; otherwise it is the outcome of the call. */
      readonly background: boolean;
      /** Of whose work it is, and in which words: the same for the same delegation. */
      readonly delegation?: string;
    }
  /** Of a run of a template: these items, by number from 0, are to be done again, each by a new task. */
  | { readonly type: 'items.reopened'; readonly items: readonly number[] }
  /** An ended task goes on as a child of this one. Written before the child's log says so. */
  | {
      readonly type: 'child.resumed';
      readonly child: string;
      readonly callId: string;
      readonly background: boolean;
      /** Absent: a person did it. */
      readonly delegation?: string;
    }
  /** Its call waits no longer: the child goes on in the background. */
  | { readonly type: 'child.detached'; readonly child: string; readonly because: string }
  /** A child has ended; the rest is of it and all below it. */
  | {
      readonly type: 'child.ended';
      readonly child: string;
      readonly status: EndStatus;
      readonly changed: readonly FileChange[];
      readonly spent: Amount;
      /** Absent in logs from before it was counted. */
      readonly work?: Work;
      /** Ids of all tasks below it. */
      readonly below: readonly string[];
      /** Rounds of delegations by it and all below it, of those that one above it has made, too. */
      readonly delegations?: Readonly<Record<string, number>>;
      /** Absent in older logs, and for a child that is lost. */
      readonly receipt?: ChildReceipt;
    }
  /** A background shell runs. That it was about to be started, the intent of its call says. */
  | {
      readonly type: 'shell.started';
      readonly shell: string;
      readonly callId: string;
      readonly command: string;
      /** Where its output grows. */
      readonly output: string;
    }
  | {
      readonly type: 'shell.ended';
      readonly shell: string;
      readonly end: ShellEnd;
      /** Null when a signal ended it, or nobody saw it end. */
      readonly exitCode: number | null;
    }
  /** Progress, for the parent's view and the user; not for the parent's model. */
  | { readonly type: 'notified'; readonly level: NoticeLevel; readonly message: string }
  | { readonly type: 'todos.set'; readonly items: readonly TodoItem[] }
  | {
      readonly type: 'limit.reached';
      readonly limit: string;
      readonly value: number;
      readonly used: number;
      /** What the next request could take, where that is what did not fit. */
      readonly needed?: number;
      /** Whether an answer without calls still fitted. Absent: it did not, and in older logs. */
      readonly lastAnswerFits?: true;
      /** The model whose output limit makes up most of `needed`. Absent if there is none, and in older logs. */
      readonly output?: OutputShare;
      /** The model for which no price is known, where that keeps a cap on cost from acting. */
      readonly unpriced?: string;
    }
  | { readonly type: 'warning'; readonly message: string }
  | {
      readonly type: 'task.ended';
      readonly end: EndReason;
      /** The final answer, or what there is of one. */
      readonly result: string;
      /**
       * The result as JSON that matches the task's output schema. Absent if it does not match or there is no
       * schema.
       */
      readonly structured?: JsonValue;
      /** The flags of the answer. Default: none. */
      readonly claims?: readonly ClaimFlag[];
    };

/** One line of a task's log. */
export type TaskEvent = EventStamp & EventBody;
export type EventType = EventBody['type'];
