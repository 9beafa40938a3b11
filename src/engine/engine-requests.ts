import type { TaskRequest } from './delegation/create-task.ts';
import type { QuotedItem } from '../protocol/quoted-item.ts';
import type { Effort, ResolvedModel, RequestPrefix } from '../protocol/model.ts';
import type { Rights, PermissionMode, Decision } from '../protocol/permission.ts';
import type { ChildOutline } from './delegation/plan-child.ts';
import type { RuleChange } from './permissions/change-rules.ts';
import type { RunLimits } from './limits/configured-limits.ts';
import type { AnswerRequest } from './questions/parse-answer.ts';

/** A request to start a conversation as the root of a new tree. */
export interface RootRequest extends TaskRequest {
  /** The id of the task. Default: a new one. */
  readonly id?: string;
  /** The description of the task in lists. Default: a title from the first words of the prompt. */
  readonly description?: string;
  /** Set if the conversation gets a workspace. `name` names its branch; null for the description. Default: none. */
  readonly worktree?: { readonly name: string | null };
  /** The limits of the conversation with all tasks below it. Default: those of the configuration. */
  readonly limits?: RunLimits;
  /** Rules that the user has set for the conversation before it begins; only of scope `task`. Default: none. */
  readonly rules?: readonly RuleChange[];
}

/** The options with which a person resumes a task. */
export interface PersonResumeOptions {
  /** The next message, or null for none. */
  readonly prompt: string | null;
  /** The items that are quoted with the message. Default: none. */
  readonly enclosed?: readonly QuotedItem[];
  /** Returns the maximum rights of the resumed task. Its recorded rights are narrowed to them. */
  readonly maxRights: (recorded: Rights) => Rights;
  /** Default: the recorded model. */
  readonly model?: ResolvedModel;
  /** The effort of the requests; null for that of the model. Default: the recorded effort. */
  readonly effort?: Effort | null;
  readonly maxTurns?: number;
  /** The limits of the work that begins with the resume, with all tasks below. Default: those of the configuration. */
  readonly limits?: RunLimits;
  /** The mode that the person chose, limited by the agent's definition. Default: the recorded mode. */
  readonly mode?: PermissionMode;
  /** True if open questions in the logs keep waiting even when new questions are denied. Default: false. */
  readonly keepsParked?: boolean;
  /** The answer to a question of the task, or of a descendant that has not ended. */
  readonly answer?: QuestionAnswer;
  /** True if a template run repeats the items that failed or that a limit ended. Default: false. */
  readonly retryFailed?: boolean;
  /**
   * Set to summarize the context of an ended task and do nothing else. `keep`: what the summary must contain, or
   * null.
   */
  readonly compacts?: { readonly keep: string | null };
  /** An ended descendant to resume. The task itself only waits for it. Not allowed together with a prompt. */
  readonly below?: { readonly id: string } & ResumeBelowRequest;
}

/** A person's answer to a question. */
export interface QuestionAnswer extends AnswerRequest {
  /** The full id of the question. */
  readonly question: string;
}

/** The options with which a person resumes a task in a running tree. */
export interface ResumeBelowRequest {
  /** The next message. Default: a message that asks the task to continue. */
  readonly prompt?: string;
  readonly model?: string;
  readonly maxTurns?: number;
}

/** The child that a Task call would create. */
export interface PlannedChild extends ChildOutline {
  /** The decision about the call that would create the child. */
  readonly decision: Decision;
  /** The fallback models, in order, for a failure of the child's model. */
  readonly fallbacks: readonly ResolvedModel[];
  /** True if an earlier result with the same inputs can be reused. */
  readonly reusesResults: boolean;
  /** The prompt prefix of its requests, without the line that describes the task. */
  readonly prefix: RequestPrefix;
}
