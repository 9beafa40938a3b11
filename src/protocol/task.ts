import type { JsonObject } from '../base/json.ts';
import type { AcceptanceCriteria } from './acceptance.ts';
import type { AgentDefinition } from './agent.ts';
import type { QuotedItem } from './quoted-item.ts';
import type {
  InitialContext,
  ForkedConversation,
  SummarizedConversation,
} from './initial-context.ts';
import type { OptionalLimitField } from './limits.ts';
import type { ResolvedModel } from './model.ts';
import type { Rights } from './permission.ts';
import type { FanOut } from './template.ts';
import type { UnmetRequest } from './unmet-request.ts';
import type { TaskWorkspace } from './workspace.ts';

/** The way in which a task was created. */
export type TaskSource = 'cli' | 'model' | 'skill' | 'hook' | 'sdk' | 'acp' | 'mcp' | 'template';

/** The limits of one task. Each is the smallest of the limits in configuration, definition and call. */
export interface TaskLimits extends Readonly<Partial<Record<OptionalLimitField, number>>> {
  /** The maximum number of answers; null: no limit. */
  readonly maxTurns: number | null;
  /** The maximum number of paid tokens of this task and all tasks below it; null: no limit. */
  readonly maxTokens: number | null;
  /** The maximum time of an activation in milliseconds; null: no limit, as for the main agent. */
  readonly wallMs: number | null;
  /** The maximum number of tokens of the answer that the model of the parent gets. */
  readonly resultMaxTokens: number;
}

/** The settings by which the loop decides what to do next. */
export interface LoopSettings {
  /** The maximum number of retries of one request. Waits for rate limits do not count. */
  readonly retries: number;
  /** The maximum number of retries of a request to which the server sent nothing. Absent in older logs. */
  readonly silentRetries?: number;
  /** The number of repeated calls after which a task ends, because it makes no progress. */
  readonly noProgressCalls: number;
}

/**
 * The specification of a task: everything that was decided when the task was created. It never changes and is part of the
 * first event, so that a resume or a replay, even on another machine, needs only the log.
 */
export interface TaskSpec {
  /** The id of the task. */
  readonly id: string;
  /** The id of the root task of the tree. For a root task, this is its own id. */
  readonly root: string;
  /** The id of the parent; null for a root task. */
  readonly parent: string | null;
  /** The id of the parent's call that created the task; null for a root task. */
  readonly parentCall: string | null;
  /** The depth in the tree. A root task is at 0. */
  readonly depth: number;
  /** The definition of the agent as which the task runs. */
  readonly agent: AgentDefinition;
  /** The description of the work in a few words. */
  readonly description: string;
  /** The first message. */
  readonly prompt: string;
  /** The model that answers. */
  readonly model: ResolvedModel;
  /** The working directory. Absolute. */
  readonly cwd: string;
  /** The workspace in which the task works instead of in the directory of its parent. Default: none. */
  readonly workspace?: TaskWorkspace;
  /** Set if tools of the task run in a process of its own. Default: they run in Muster's process. */
  readonly isolation?: 'process';
  /** The rights of the task. */
  readonly rights: Rights;
  /** The canonical names of the tools that may run, in the order in which requests list them. */
  readonly tools: readonly string[];
  /** The requests of the definition that are not met. Default: none, also in older logs. */
  readonly unmet?: readonly UnmetRequest[];
  /** The limits of the task. */
  readonly limits: TaskLimits;
  /**
   * The SHA-256 of the blob with the RequestPrefix (the system prompt and the tools). A task that continues the
   * conversation of its parent has the prefix of that conversation.
   */
  readonly prefix: string;
  /**
   * The date in the prefix, `YYYY-MM-DD`. Absent in older logs, in which it is the day on which the task was created.
   */
  readonly date?: string;
  /** The ids of the parent's tasks that the prompt names, or whose results the task got. It may see and address them. */
  readonly handed: readonly string[];
  /** The initial context in addition to the prompt. Default: none. */
  readonly given?: InitialContext;
  /** The conversation of the parent that the task continues. Default: the task begins a new conversation. */
  readonly inherited?: ForkedConversation;
  /** The conversation of the parent that is summarized for the task. Default: none. */
  readonly summarised?: SummarizedConversation;
  /** The agent types that the person's prompt names with `@`. The first answer must call each of them. */
  readonly mentions?: readonly string[];
  /** The items that the person attached to the prompt. Default: none. */
  readonly enclosed?: readonly QuotedItem[];
  /** The names of the skills whose instructions are part of the initial prompt. Default: none. */
  readonly skills?: readonly string[];
  /** True if the task was started in the background. */
  readonly background: boolean;
  /** The task of which this task continues a copy, and the number of the last copied event. Default: none. */
  readonly branchedFrom?: { readonly task: string; readonly seq: number };
  /** The way in which the task was created. */
  readonly source: TaskSource;
  /**
   * The W3C trace context (`traceparent`) in which a program outside has started the tree. Set if telemetry is exported
   * and the environment of the process that created the root task contained one.
   */
  readonly traceparent?: string;
  /** Set if the task has no conversation, but creates one child for each item of a template. */
  readonly fanOut?: FanOut;
  /** The JSON Schema in the call that the answer must match. Default: the schema of the definition, if it has one. */
  readonly outputSchema?: JsonObject;
  /** The conditions under which the work is accepted. Default: none. */
  readonly accept?: AcceptanceCriteria;
  /** The models that take over in this order when the work is not accepted. Default: none. */
  readonly laterModels?: readonly ResolvedModel[];
  /** The unchanged arguments of the call, for `context.params_input` of the result envelope. */
  readonly params: JsonObject;
}
