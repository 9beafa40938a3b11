import type { OutputCap } from '../output-cap.ts';
import type { ErrorInfo } from '../../base/errors.ts';
import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { Attachment } from '../attachment.ts';
import type { AcceptanceOutcome } from '../acceptance.ts';
import type { FindingAuthor, FindingContent } from '../board.ts';
import type { WorkspaceResult, WorkspaceStart } from '../workspace.ts';
import type { EndReason } from '../end-reason.ts';
import type { TaskInput } from '../input.ts';
import type { HookEventBody } from './hook-event.ts';
import type { LimitHit } from '../limits.ts';
import type { CompactionEvent } from './compaction-event.ts';
import type { AssistantMessage } from '../message.ts';
import type {
  Amount,
  Effort,
  ReplacedModel,
  ModelFailure,
  ResolvedModel,
  Silence,
  Work,
} from '../model.ts';
import type {
  Decision,
  ModeGrant,
  PermissionMode,
  PermissionRule,
  Rights,
  RuleList,
} from '../permission.ts';
import type { Answer, AnsweredBy, GrantScope, Question } from '../question.ts';
import type { Repairs } from '../repair.ts';
import type { ChildReceipt, ClaimFlag, EndStatus, ShellEnd } from '../result.ts';
import type { ServerLogLevel } from '../server-message.ts';
import type { UnrestoredFile, Rewound } from './rewound.ts';
import type { LoopSettings, TaskLimits, TaskSpec } from '../task.ts';
import type {
  CallDetails,
  FileChange,
  FileSeen,
  LeftProcesses,
  TodoItem,
  UnlistedChanges,
} from '../tool.ts';
import type { AnswerUsage, LoggedAnswer } from '../used.ts';

/**
 * The version of the log format that this code writes. Logs of older versions can be replayed; logs of newer versions
 * are refused. Version 2 added resumed tasks, background children and shells. Version 3 added network rights, questions to
 * people, their answers, and the rules that answers grant. Version 4 added waits for rate limits and for
 * memory, runs of templates, and reused results.
 */
export const LOG_VERSION = 4;

/** The fields that all types of events have in common. */
export interface EventStamp {
  /** The version of the log format. */
  readonly v: number;
  /** The number of the event. The numbers begin at 0 and have no gaps within one log. */
  readonly seq: number;
  /** Milliseconds since the epoch, by the wall clock. */
  readonly ts: number;
  /**
   * The milliseconds by which somebody has set the wall clock forward since the writing process started; negative if
   * it was set back. Differences of `ts - clockShift` are durations. Absent if the shift is less than a tenth of a
   * second, and in older logs.
   */
  readonly clockShift?: number;
  /** The id of the task to whose log the event belongs. */
  readonly task: string;
  /** A number that grows by one with each owner of the log, so that an earlier owner can no longer write to it. */
  readonly epoch: number;
}

export const NOTICE_LEVELS = ['info', 'warning', 'error'] as const;
/** The levels of notices to the user. */
export type NoticeLevel = (typeof NOTICE_LEVELS)[number];

/** A delegation, as the log of the delegating task records it. */
export interface DelegationFields {
  /** The id of the child. */
  readonly child: string;
  /** The call that delegates. */
  readonly callId: string;
  /** True if a notice reports the end of the child. Otherwise the end of the child is the outcome of the call. */
  readonly background: boolean;
  /**
   * A key that is the same whenever the same agent gets the same text (`toDelegationKey`). Absent if a person resumed the
   * child, and in older logs.
   */
  readonly delegation?: string;
  /** Set if the child works in a workspace of its own. */
  readonly workspace?: true;
}

/** Work that a server does for a call. */
export interface RemoteReference {
  /** The name of the tool that finds the work again. */
  readonly tool: string;
  /** The fields by which the tool finds it. */
  readonly reference: JsonObject;
}

/** The content of an event, by type. */
export type EventBody =
  /** The task was created. This is the first event of every log. */
  | { readonly type: 'task.created'; readonly spec: TaskSpec }
  /** A process has become the owner of the log: the first owner, or a process that continues after another. */
  | { readonly type: 'task.claimed'; readonly pid: number; readonly host: string }
  /** The task cannot start yet. `because`: what it waits for, as a noun phrase for messages. */
  | { readonly type: 'task.held'; readonly because: string }
  /** The task runs. The event is repeated when the task runs again after a wait. */
  | {
      readonly type: 'task.started';
      /** The settings of the loop under this owner, in addition to the limits of the task. Absent in older logs. */
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
       * Set if the task only summarizes its context, and then ends as it had ended before. `keep`: the content that the
       * summary must contain, in the words of a person; null: the person named none.
       */
      readonly compacts?: { readonly keep: string | null };
    }
  /**
   * The task sends no request, because an earlier task did the same work and everything that it read is unchanged.
   * `text`: the answer of the earlier task.
   */
  | {
      readonly type: 'task.reused';
      /** The id of the earlier task, and the time at which it ended. */
      readonly of: string;
      readonly at: number;
      /** The files that the earlier task and all tasks below it had read, all of which are unchanged. */
      readonly read: readonly FileSeen[];
      readonly text: string;
    }
  /** No earlier result could be reused for the task. Later tasks with the same key may reuse the result of this task. */
  | { readonly type: 'reuse.missed'; readonly key: string; readonly because: string }
  /**
   * The task continues from one of its earlier events, and the events after that one no longer count. This event is
   * written before files are restored.
   */
  | (Rewound & { readonly type: 'task.rewound' })
  /** The files of a rewind are restored, except those in `left`. */
  | {
      readonly type: 'files.restored';
      /** The number of the event `task.rewound`. */
      readonly rewind: number;
      readonly left: readonly UnrestoredFile[];
    }
  /** The rights, limits and model of the task change. They replace those of the specification. */
  | {
      readonly type: 'terms.changed';
      readonly rights: Rights;
      readonly limits: TaskLimits;
      readonly model: ResolvedModel;
      /** The effort of the requests from here on; null for that of the model. Absent if it does not change. */
      readonly effort?: Effort | null;
      /** Set if the model replaces a failed model until the task ends. */
      readonly fallback?: ReplacedModel;
      /** Set if the model takes over because the work of the model before it, `provider/id`, was not accepted. */
      readonly escalation?: { readonly from: string };
      /**
       * Set if the model answers until the next message of the person: the id of the message whose slash command asks for it, or
       * asked for a model that a hook has refused.
       */
      readonly forMessage?: string;
    }
  /** A text for the model was added to the inputs of the next request. */
  | { readonly type: 'input.queued'; readonly input: TaskInput }
  /**
   * Inputs are withdrawn and are never sent, because the model has read their content in the outcome of a call, or
   * because the user took them back.
   */
  | { readonly type: 'input.withdrawn'; readonly ids: readonly string[] }
  /**
   * A request is about to be sent. It contains the messages of the state at this event, followed by `inputs` in this
   * order. A repeated request after a crash is therefore identical byte for byte.
   */
  | {
      readonly type: 'turn.started';
      readonly turn: number;
      /** The ids of the inputs. */
      readonly inputs: readonly string[];
      readonly model: string;
      /** `none` for the last turn after a limit was reached. */
      readonly toolChoice: 'auto' | 'none';
      /** The output cap of the request. Default: the output limit of the model. */
      readonly outputCap?: OutputCap;
    }
  /** A request waits for a rate limit. The event is written at most once for each attempt to send the request. */
  | {
      readonly type: 'turn.held';
      readonly turn: number;
      /** The limit that the request waits for, as a noun phrase for messages: "the rate limit of …". */
      readonly because: string;
      /** The end of the wait in milliseconds since the epoch; null if it is not known. */
      readonly untilMs: number | null;
    }
  /** The first byte of the answer has arrived, so the content of the request is delivered. */
  | {
      readonly type: 'turn.accepted';
      readonly turn: number;
      /** A digest of each part that the request adds to the previous request. Absent in older logs. */
      readonly added?: readonly string[];
    }
  /** No content of the answer has arrived for a few seconds. */
  | (Silence & { readonly type: 'turn.quiet'; readonly turn: number })
  /** Content of the answer has arrived after `turn.quiet`. */
  | { readonly type: 'turn.flowing'; readonly turn: number }
  /** A request has failed and is sent again. */
  | (AnswerUsage & {
      readonly type: 'turn.retried';
      readonly turn: number;
      /** The number of the attempt, from 1; 0 if the process that sent the request died before the answer ended. */
      readonly attempt: number;
      readonly failure: ModelFailure;
      /** The wait in milliseconds before the request is sent again. */
      readonly waitMs: number;
      /** The repairs of the answer. Default: none, also in older logs. */
      readonly repairs?: Repairs;
    })
  /** The model has answered. */
  | (LoggedAnswer & {
      readonly type: 'turn.ended';
      readonly message: AssistantMessage;
      /** The repairs of the answer. Default: none, also in older logs. */
      readonly repairs?: Repairs;
    })
  /** A request has failed and is not sent again. */
  | (AnswerUsage & {
      readonly type: 'turn.failed';
      readonly turn: number;
      readonly failure: ModelFailure;
      /** The part of the answer that arrived; only its beginning if it is long. Absent if nothing arrived. */
      readonly text?: string;
      /** The repairs of the answer. Default: none, also in older logs. */
      readonly repairs?: Repairs;
    })
  /**
   * A person interrupts the task. Its background work continues. The task sends the next request when it gets a new
   * input.
   */
  | {
      readonly type: 'turn.interrupted';
      /** The id of the notice that informs the model. */
      readonly input: string;
      readonly because: string;
    }
  /** The conversation becomes smaller, because it approaches the context window of its model. */
  | CompactionEvent
  /** A call is about to run. The event is stored durably before the call has an effect. `tool`: the canonical name. */
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
       * Set if the text is outside text (from files, commands or other agents). The log contains the text unchanged.
       * Requests quote it between boundaries with this nonce, so that it is identical byte for byte each time.
       */
      readonly nonce?: string;
      /** Images and documents that belong to the text. Default: none. */
      readonly attachments?: readonly Attachment[];
      readonly error: ErrorInfo['code'] | null;
      readonly facts: CallDetails;
      readonly ms: number;
    }
  /**
   * A running call has sent a request of its own to a model, apart from the conversation, and the request has ended: for
   * example, a small model has answered a question about a page. Its usage counts like that of a turn.
   */
  | (AnswerUsage & {
      readonly type: 'request.ended';
      readonly callId: string;
      /** The purpose of the request, for people: a phrase such as `answer from https://example.org/`. */
      readonly purpose: string;
      /** The failure of the request; null if it was answered. The call reports it to the model. */
      readonly failure: ModelFailure | null;
      /** Milliseconds from the request to its end. */
      readonly ms: number;
    })
  /** A call did not run. `text`: the error result for the model. `decision`: the decision that refused the call, if any. */
  | {
      readonly type: 'call.refused';
      readonly callId: string;
      readonly tool: string;
      readonly text: string;
      readonly error: ErrorInfo['code'];
      readonly decision: Decision | null;
      /** True if the call was refused because the model made it too often in a row. */
      readonly repeated?: true;
    }
  /** A call waits for a person. A later question for the same call replaces this one. */
  | {
      readonly type: 'question.asked';
      readonly question: Question;
      /** The SHA-256 of everything that the call would do. An answer applies only to a call with this digest. */
      readonly digest: string;
      /** True if the task is parked until the question is answered, because no person is present. */
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
   * The user has answered "always", or has set an allow rule without a question. A rule of scope `task` is stored only in
   * this event; rules of other scopes are also stored in the user's configuration.
   */
  | {
      readonly type: 'rights.granted';
      readonly rule: PermissionRule;
      readonly scope: GrantScope;
      readonly by: 'user';
      /** The id of the question that was answered. Absent if the user was not asked. */
      readonly question?: string;
    }
  /** The user has set an ask or deny rule for the task and all tasks below it. No undo takes it back. */
  | {
      readonly type: 'rights.restricted';
      readonly list: 'ask' | 'deny';
      readonly rule: PermissionRule;
      readonly by: 'user';
    }
  /**
   * The user has removed a rule that an event `rights.granted` or `rights.restricted` had set, or, with another scope than
   * `task`, a rule of the user's configuration. No undo takes this back.
   */
  | {
      readonly type: 'rule.removed';
      readonly list: RuleList;
      readonly rule: PermissionRule;
      readonly scope: GrantScope;
      readonly by: 'user';
    }
  /**
   * The user has granted a wider mode to an agent. A grant of scope `task` is stored only in this event, and applies to
   * the task and all tasks below it. Grants of other scopes are stored in the user's configuration; the event then
   * records that this task has its mode because of a grant.
   */
  | {
      readonly type: 'mode.granted';
      readonly grant: ModeGrant;
      readonly scope: GrantScope;
      readonly by: 'user';
      /** The mode that this task would have without the grant. Absent if the grant did not decide the mode of this task. */
      readonly without?: PermissionMode;
      /** The id of the question that was answered. Absent if the grant is from a flag or a file. */
      readonly question?: string;
    }
  /**
   * The process gives up the task in an orderly way, because nothing in its tree can continue without an answer.
   * `questions`: the ids of the open questions of the task and all tasks below it.
   */
  | { readonly type: 'task.parked'; readonly questions: readonly string[] }
  /** The task is about to create a child. The event is written before the log of the child exists. */
  | (DelegationFields & { readonly type: 'child.created' })
  /** Items of a template are to be done again, each by a new task. `items`: the numbers of the items, from 0. */
  | { readonly type: 'items.reopened'; readonly items: readonly number[] }
  /** An ended task continues as a child of this task. The event is written before `task.resumed` in the child's log. */
  | (DelegationFields & { readonly type: 'child.resumed' })
  /** The call no longer waits for the child, which continues in the background. */
  | { readonly type: 'child.detached'; readonly child: string; readonly because: string }
  /** A child has ended. Apart from its status, the fields describe the child and all tasks below it. */
  | {
      readonly type: 'child.ended';
      readonly child: string;
      readonly status: EndStatus;
      /** Set if the child works in a workspace, or one of its descendants does that works for this task. */
      readonly workspace?: true;
      readonly changed: readonly FileChange[];
      /** Changes by commands that are not listed one by one. Absent if there are none. */
      readonly unlisted?: readonly UnlistedChanges[];
      readonly spent: Amount;
      /** The work of the models and tools. Absent in older logs. */
      readonly work?: Work;
      /** The ids of all tasks below the child. */
      readonly below: readonly string[];
      /** The number of rounds of each delegation by its key, for delegations that a task above the child has also made. */
      readonly delegations?: Readonly<Record<string, number>>;
      /** The facts about what the child did. Absent in older logs, and for a child that is lost. */
      readonly receipt?: ChildReceipt;
    }
  /** A background shell runs. The event `call.started` of its call was written before the shell was started. */
  | {
      readonly type: 'shell.started';
      readonly shell: string;
      readonly callId: string;
      readonly command: string;
      /** The path of the file to which the output of the shell is written. */
      readonly output: string;
      /** Set if the shell is not a command but work of a server. `command` then names the call. */
      readonly remote?: RemoteReference;
    }
  /** A background shell has ended. */
  | {
      readonly type: 'shell.ended';
      readonly shell: string;
      readonly end: ShellEnd;
      /** The exit code; null if a signal ended the shell, or if no process observed its end. */
      readonly exitCode: number | null;
      /** The changes by the command of the shell. Absent if they are not known. */
      readonly changed?: readonly FileChange[];
      readonly unlisted?: readonly UnlistedChanges[];
      /** The processes that the command left running. Absent if there were none. */
      readonly left?: LeftProcesses;
    }
  /** The task reports its progress to the user, but not to the model of its parent. */
  | { readonly type: 'notified'; readonly level: NoticeLevel; readonly message: string }
  /** An MCP server has sent a log message during a call of one of its tools. The model does not see it. */
  | {
      readonly type: 'server.logged';
      readonly callId: string;
      readonly server: string;
      readonly level: ServerLogLevel;
      /** Untrusted; cut if it is long. */
      readonly text: string;
    }
  /** Hooks have run, or have let a call run. */
  | HookEventBody
  /** The task has replaced its list of todos. */
  | { readonly type: 'todos.set'; readonly items: readonly TodoItem[] }
  /** The task has posted a finding on the board of its tree. */
  | (FindingContent & {
      readonly type: 'finding.posted';
      /** The author of a finding that was copied into the log of a branch. Absent if the task of this log posted it. */
      readonly author?: FindingAuthor;
    })
  /**
   * The state of the task's directory before its work was recorded, so that the work can be checked. `baseline`: the hash
   * of the blob that holds it.
   */
  | { readonly type: 'acceptance.prepared'; readonly baseline: string }
  /** The work of the task is being checked. `turn`: the number of the turn whose answer ended the work. */
  | { readonly type: 'acceptance.started'; readonly turn: number }
  /** The work of the task was checked. */
  | { readonly type: 'acceptance.checked'; readonly outcome: AcceptanceOutcome }
  /**
   * The workspace of the task is there, and the task works in it. `notes`: facts about it that the task was told.
   */
  | (WorkspaceStart & { readonly type: 'workspace.opened' })
  /** The work in the workspace of the task has ended. */
  | { readonly type: 'workspace.closed'; readonly left: WorkspaceResult }
  /** The task has reached a limit. */
  | (LimitHit & { readonly type: 'limit.reached' })
  /** A warning for the user, which does not end the task. */
  | { readonly type: 'warning'; readonly message: string }
  /** The task has ended. */
  | {
      readonly type: 'task.ended';
      readonly end: EndReason;
      /** The final answer, or the part of it that has arrived. */
      readonly result: string;
      /**
       * The result as JSON that matches the output schema of the task. Absent if the result does not match, or if the task
       * has no schema.
       */
      readonly structured?: JsonValue;
      /** The flags of the answer. Default: none. */
      readonly claims?: readonly ClaimFlag[];
    };

/** One line of a task's log. */
export type TaskEvent = EventStamp & EventBody;
/** The types of events, such as `task.created`. */
export type EventType = EventBody['type'];
