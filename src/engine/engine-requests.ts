import type { QuotedItem } from '../protocol/quoted-item.ts';
import type { AgentDefinition } from '../protocol/agent.ts';
import type { ResolvedModel, RequestPrefix } from '../protocol/model.ts';
import type { Rights, PermissionMode, Decision } from '../protocol/permission.ts';
import type { TaskSource } from '../protocol/task.ts';
import type { JsonObject } from '../base/json.ts';
import type { AnswerRequest } from './questions/read-answer.ts';
import type { ChildOutline } from './delegation/plan-child.ts';

/** A conversation to start: the root of a new tree. */
export interface RootRequest {
  /** Default: a new one. */
  readonly id?: string;
  readonly prompt: string;
  /** What of it the person said. Default: all. */
  readonly personText?: string;
  /** What the person lays beside it. Default: nothing. */
  readonly enclosed?: readonly QuotedItem[];
  /** What lists show of it. Default: the first words of the prompt. */
  readonly description?: string;
  readonly agent: AgentDefinition;
  readonly model: ResolvedModel;
  readonly rights: Rights;
  readonly cwd: string;
  readonly source: TaskSource;
  readonly params: JsonObject;
  /** JSON Schema that its answers must be valid against. Default: the agent's, if any. */
  readonly outputSchema?: JsonObject;
}

/** How a person makes a task go on. */
export interface ResumeOptions {
  /** The next message; null: none. */
  readonly prompt: string | null;
  /** What goes with it. Default: nothing. */
  readonly enclosed?: readonly QuotedItem[];
  /** Its rights are those recorded, cut by what this gives for them. */
  readonly maxRights: (recorded: Rights) => Rights;
  /** Absent: as recorded. */
  readonly model?: ResolvedModel;
  readonly maxTurns?: number;
  /** Which mode it gets, by a person's own word, up to what its definition wants. Absent: as recorded. */
  readonly mode?: PermissionMode;
  /** Questions that wait in its logs go on to wait, whatever happens to others. Default false. */
  readonly keepsParked?: boolean;
  /** The answer to a question of it, or of a task below it that had not ended. */
  readonly answer?: QuestionAnswer;
  /** Of a run of a template: items that failed or were ended by a limit are done again. Default false. */
  readonly retryFailed?: boolean;
  /** Its context is summarised, and nothing else: of one that has ended. `keep`: what is kept above all. */
  readonly compacts?: { readonly keep: string | null };
  /** An ended task below it goes on, and it only waits for that: see `ResumeBelowRequest`. Not with a prompt. */
  readonly below?: { readonly id: string } & ResumeBelowRequest;
}

/** What a person says to a question. */
export interface QuestionAnswer extends AnswerRequest {
  /** Its whole id. */
  readonly question: string;
}

/** How a person makes a task go on whose tree is at work. */
export interface ResumeBelowRequest {
  /** Absent: it is told to go on. */
  readonly prompt?: string;
  readonly model?: string;
  readonly maxTurns?: number;
}

/** A child as it would be made. */
export interface PlannedChild extends ChildOutline {
  /** Whether the call that asks for it may run. */
  readonly decision: Decision;
  /** What goes on in its turn where its model fails. */
  readonly fallbacks: readonly ResolvedModel[];
  /** Whether an earlier result of the same work is reused. */
  readonly reusesResults: boolean;
  /** What its requests begin with, but for the line that is particular to one task. */
  readonly prefix: RequestPrefix;
}
