import type { TaskRequest } from './delegation/create-task.ts';
import type { QuotedItem } from '../protocol/quoted-item.ts';
import type { ResolvedModel, RequestPrefix } from '../protocol/model.ts';
import type { Rights, PermissionMode, Decision } from '../protocol/permission.ts';
import type { ChildOutline } from './delegation/plan-child.ts';
import type { AnswerRequest } from './questions/record-answer.ts';

/** A request to start a conversation as the root of a new tree. */
export interface RootRequest extends TaskRequest {
  /** The id of the task. Default: a new one. */
  readonly id?: string;
  /** The line that lists show. Default: the first words of the prompt. */
  readonly description?: string;
}

/** The options with which a person resumes a task. */
export interface ResumeOptions {
  /** The next message, or null for none. */
  readonly prompt: string | null;
  /** The items that are quoted with it. Default: none. */
  readonly enclosed?: readonly QuotedItem[];
  /** Returns the limit of its rights: it gets the recorded ones, narrowed to these. */
  readonly maxRights: (recorded: Rights) => Rights;
  /** Default: the recorded model. */
  readonly model?: ResolvedModel;
  readonly maxTurns?: number;
  /** The mode that the person chose, at most that of its definition. Default: the recorded one. */
  readonly mode?: PermissionMode;
  /** True if questions in its logs keep waiting, whatever happens to new ones. Default: false. */
  readonly keepsParked?: boolean;
  /** The answer to a question of the task, or of a descendant that had not ended. */
  readonly answer?: QuestionAnswer;
  /** True if a template run repeats the items that failed or were ended by a limit. Default: false. */
  readonly retryFailed?: boolean;
  /** Set to only summarize the context of an ended task. `keep`: what the summary must keep, or null. */
  readonly compacts?: { readonly keep: string | null };
  /** An ended descendant to resume, for which the task only waits. Not together with a prompt. */
  readonly below?: { readonly id: string } & ResumeBelowRequest;
}

/** A person's answer to a question. */
export interface QuestionAnswer extends AnswerRequest {
  /** The full id of the question. */
  readonly question: string;
}

/** The options with which a person resumes a task in a running tree. */
export interface ResumeBelowRequest {
  /** The next message. Default: a message that asks it to continue. */
  readonly prompt?: string;
  readonly model?: string;
  readonly maxTurns?: number;
}

/** A child as it would be created. */
export interface PlannedChild extends ChildOutline {
  /** True if the call that asks for it may run. */
  readonly decision: Decision;
  /** The models that it would try in turn if its model failed. */
  readonly fallbacks: readonly ResolvedModel[];
  /** True if an earlier result of the same work is reused. */
  readonly reusesResults: boolean;
  /** The beginning of its requests, without the line that describes the task. */
  readonly prefix: RequestPrefix;
}
