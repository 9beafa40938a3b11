import type { OutputCap } from '../output-cap.ts';
import type { ErrorInfo } from '../../base/errors.ts';
import type { JsonValue } from '../../base/json.ts';
import type { Attachment } from '../attachment.ts';
import type { EndReason } from '../end-reason.ts';
import type { TaskInput } from '../input.ts';
import type { LimitHit } from '../limits.ts';
import type { CompactionEvent } from './compaction-event.ts';
import type { AssistantMessage } from '../message.ts';
import type { Amount, FailureKind, ModelFailure, ResolvedModel, Silence, Work } from '../model.ts';
import type { Decision, ModeGrant, PermissionMode, PermissionRule, Rights } from '../permission.ts';
import type { Answer, AnsweredBy, GrantScope, Question } from '../question.ts';
import type { Repairs } from '../repair.ts';
import type { ChildReceipt, ClaimFlag, EndStatus, ShellEnd } from '../result.ts';
import type { FileLeft, Rewound } from './rewound.ts';
import type { LoopSettings, TaskLimits, TaskSpec } from '../task.ts';
import type { CallDetails, FileChange, FileSeen, TodoItem } from '../tool.ts';
import type { AnswerUsage, LoggedAnswer } from '../used.ts';

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

/** A delegation, as the log of the delegating task records it. */
interface Delegated {
  readonly child: string;
  /** The call that delegates. */
  readonly callId: string;
  /** True if a notice reports the child's end. Otherwise its end is the outcome of the call. */
  readonly background: boolean;
  /**
   * A key that is the same whenever the same work is delegated in the same words (`toDelegationKey`). Absent if a person
   * resumed the child, and in older logs.
   */
  readonly delegation?: string;
}

/** The content of an event, by type. */
export type EventBody =
  /** The task exists. This is the first event of every log. */
  | { readonly type: 'task.created'; readonly spec: TaskSpec }
  /** A process has become the owner of the log: the first one, or one that takes over from another. */
  | { readonly type: 'task.claimed'; readonly pid: number; readonly host: string }
  /** The task could run, but has to wait for the reason in `because`. */
  | { readonly type: 'task.held'; readonly because: string }
  /** The task runs. The event is repeated when it runs again after a wait. */
  | {
      readonly type: 'task.started';
      /** Settings of its loop under this owner, in addition to its own limits. Absent in older logs. */
      readonly settings?: LoopSettings;
    }
  /** The task continues after its end. */
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
   * The task asks no model, because an earlier task did the same work, and everything that it read is still the same.
   * The text is that task's answer.
   */
  | {
      readonly type: 'task.reused';
      /** The earlier task, and when it ended. */
      readonly of: string;
      readonly at: number;
      /** The files that the earlier task and all tasks below it read, as they were found again. */
      readonly read: readonly FileSeen[];
      readonly text: string;
    }
  /** No result could be reused for the task. Its own result may be reused later for work of this key. */
  | { readonly type: 'reuse.missed'; readonly key: string; readonly because: string }
  /**
   * The task continues from one of its earlier events, and later ones no longer count. Written before files
   * change.
   */
  | (Rewound & { readonly type: 'task.rewound' })
  /** The files of a rewind are restored, except those in `left`. */
  | {
      readonly type: 'files.restored';
      /** The number of the event `task.rewound`. */
      readonly rewind: number;
      readonly left: readonly FileLeft[];
    }
  /** These terms replace those of the specification from now on. */
  | {
      readonly type: 'terms.changed';
      readonly rights: Rights;
      readonly limits: TaskLimits;
      readonly model: ResolvedModel;
      /** Set if the model replaces one that failed, until the task ends. */
      readonly fallback?: {
        /** The model that failed, as `provider/id`. */
        readonly from: string;
        readonly failure: FailureKind;
      };
    }
  /** A text for the model waits for the next request. */
  | { readonly type: 'input.queued'; readonly input: TaskInput }
  /** These inputs are not sent now or later, because the model has read them in the outcome of a call. */
  | { readonly type: 'input.withdrawn'; readonly ids: readonly string[] }
  /**
   * A request is about to be sent. Its messages are those of the state at this event, followed by `inputs` in this
   * order, so a repeat after a crash is identical byte for byte.
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
  /** A rate limit holds a request back. The event is written once for each time that the request is sent. */
  | {
      readonly type: 'turn.held';
      readonly turn: number;
      /** The subject of the wait: "the rate limit of …". */
      readonly because: string;
      /** The end of the wait in milliseconds since the epoch; null if it is not known. */
      readonly untilMs: number | null;
    }
  /** The first byte of the answer has arrived, so the content of the request is delivered. */
  | {
      readonly type: 'turn.accepted';
      readonly turn: number;
      /** A digest of each part that the request adds to the one before it. Absent in older logs. */
      readonly added?: readonly string[];
    }
  /** Nothing of the answer has arrived for a while. */
  | (Silence & { readonly type: 'turn.quiet'; readonly turn: number })
  /** More of the answer has arrived after a silence. */
  | { readonly type: 'turn.flowing'; readonly turn: number }
  /** A request has failed and is sent again. */
  | (AnswerUsage & {
      readonly type: 'turn.retried';
      readonly turn: number;
      /** The number of the attempt, from 1; 0 if the process that sent the request died before the answer ended. */
      readonly attempt: number;
      readonly failure: ModelFailure;
      readonly waitMs: number;
      /** Repairs in the answer. Default: none, also in older logs. */
      readonly repairs?: Repairs;
    })
  /** The model has answered. */
  | (LoggedAnswer & {
      readonly type: 'turn.ended';
      readonly message: AssistantMessage;
      /** Repairs in the answer. Default: none, also in older logs. */
      readonly repairs?: Repairs;
    })
  /** A request has failed for good. */
  | (AnswerUsage & {
      readonly type: 'turn.failed';
      readonly turn: number;
      readonly failure: ModelFailure;
      /** The part of the answer that arrived; only its beginning if it is long. Absent if nothing arrived. */
      readonly text?: string;
      /** Repairs in the answer. Default: none, also in older logs. */
      readonly repairs?: Repairs;
    })
  /**
   * A person ends the current work of the task, while its background work continues. The task asks its model again
   * when it gets a new input.
   */
  | {
      readonly type: 'turn.interrupted';
      /** The id of the notice that tells the model. */
      readonly input: string;
      readonly because: string;
    }
  | CompactionEvent
  /** A call is about to run. The event is durable before the call has an effect. `tool` is canonical. */
  | {
      readonly type: 'call.started';
      readonly callId: string;
      readonly tool: string;
      readonly input: JsonValue;
    }
  /** A call has ended. `text` is the result for the model. */
  | {
      readonly type: 'call.ended';
      readonly callId: string;
      readonly tool: string;
      readonly text: string;
      /**
       * Set if the text came from outside (files, commands, other agents). It is logged as it came. A request quotes
       * it between boundaries of this nonce, identical byte for byte each time.
       */
      readonly nonce?: string;
      /** Images and documents that belong to the text. Default: none. */
      readonly attachments?: readonly Attachment[];
      readonly error: ErrorInfo['code'] | null;
      readonly facts: CallDetails;
      readonly ms: number;
    }
  /** A call did not run. `text` is its error result, and `decision` the decision that refused it, if one did. */
  | {
      readonly type: 'call.refused';
      readonly callId: string;
      readonly tool: string;
      readonly text: string;
      readonly error: ErrorInfo['code'];
      readonly decision: Decision | null;
      /** True if the call was made too often in a row. */
      readonly repeated?: true;
    }
  /** A call waits for a person. A later question for the same call replaces this one. */
  | {
      readonly type: 'question.asked';
      readonly question: Question;
      /** The SHA-256 of everything that the call would do. An answer holds for this only. */
      readonly digest: string;
      /** True if the task is parked because nobody is there to answer. */
      readonly parks: boolean;
    }
  /** A question has an answer. */
  | {
      readonly type: 'question.answered';
      /** The id of the question. */
      readonly question: string;
      readonly callId: string;
      readonly answer: Answer;
      readonly by: AnsweredBy;
    }
  /**
   * The user has answered "always". A rule of scope `task` acts by this event; other scopes are stored elsewhere
   * too.
   */
  | {
      readonly type: 'rights.granted';
      readonly rule: PermissionRule;
      readonly scope: GrantScope;
      readonly by: 'user';
      /** The question that it answers. */
      readonly question: string;
    }
  /**
   * The user has granted a wider mode to an agent. A grant of scope `task` acts by this event, for the task and all
   * tasks below it. Other grants are stored elsewhere, and this event records that the task has its mode by one.
   */
  | {
      readonly type: 'mode.granted';
      readonly grant: ModeGrant;
      readonly scope: GrantScope;
      readonly by: 'user';
      /** The mode that this task would have without the grant. Absent if the task was not created by it. */
      readonly without?: PermissionMode;
      /** The question that it answers. Absent if a flag or a file gave the grant. */
      readonly question?: string;
    }
  /**
   * The process leaves the task in good order, because nothing in its tree can continue without an answer.
   * `questions`: ids of the open questions of the task and all tasks below it.
   */
  | { readonly type: 'task.parked'; readonly questions: readonly string[] }
  /** The task is about to create a child. Written before the child's log exists. */
  | (Delegated & { readonly type: 'child.created' })
  /** These items of a template, by number from 0, are to be done again, each by a new task. */
  | { readonly type: 'items.reopened'; readonly items: readonly number[] }
  /** A task that has ended continues as a child of this one. Written before the child's log says so. */
  | (Delegated & { readonly type: 'child.resumed' })
  /** The call no longer waits for the child, which continues in the background. */
  | { readonly type: 'child.detached'; readonly child: string; readonly because: string }
  /** A child has ended. Apart from its status, the fields describe the child and all tasks below it. */
  | {
      readonly type: 'child.ended';
      readonly child: string;
      readonly status: EndStatus;
      readonly changed: readonly FileChange[];
      readonly spent: Amount;
      /** Absent in older logs. */
      readonly work?: Work;
      /** Ids of all tasks below it. */
      readonly below: readonly string[];
      /** The number of rounds of each delegation, by key, if a task above the child has made it too. */
      readonly delegations?: Readonly<Record<string, number>>;
      /** Absent in older logs, and for a child that is lost. */
      readonly receipt?: ChildReceipt;
    }
  /** A background shell runs. The event `call.started` of its call was written before it was started. */
  | {
      readonly type: 'shell.started';
      readonly shell: string;
      readonly callId: string;
      readonly command: string;
      /** Path of the file in which its output grows. */
      readonly output: string;
    }
  /** A background shell has ended. */
  | {
      readonly type: 'shell.ended';
      readonly shell: string;
      readonly end: ShellEnd;
      /** The exit code, or null if a signal ended the shell or nobody saw it end. */
      readonly exitCode: number | null;
    }
  /** The task reports its progress to the user and to the parent's view, but not to the parent's model. */
  | { readonly type: 'notified'; readonly level: NoticeLevel; readonly message: string }
  /** The task has replaced its list of todos. */
  | { readonly type: 'todos.set'; readonly items: readonly TodoItem[] }
  /** The task has reached a limit. */
  | (LimitHit & { readonly type: 'limit.reached' })
  /** The user should know something that does not end the task. */
  | { readonly type: 'warning'; readonly message: string }
  /** The task has ended. */
  | {
      readonly type: 'task.ended';
      readonly end: EndReason;
      /** The final answer, or the part of it that exists. */
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
