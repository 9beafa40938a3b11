import type { JsonObject } from '../base/json.ts';
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

/** The way in which a task was created. */
export type TaskSource = 'cli' | 'model' | 'skill' | 'hook' | 'sdk' | 'acp' | 'mcp' | 'template';

/** The limits of one task. They are set when it is created: the smallest of configuration, definition and call. */
export interface TaskLimits extends Readonly<Partial<Record<OptionalLimitField, number>>> {
  /** The maximum number of answers; null for no limit. */
  readonly maxTurns: number | null;
  /** Paid tokens of this task and all tasks below it; null for no limit. */
  readonly maxTokens: number | null;
  /** Milliseconds from its start; null for no limit, as for the main agent. */
  readonly wallMs: number | null;
  /** The maximum number of tokens of the answer that the parent's model gets. */
  readonly resultMaxTokens: number;
}

/** Settings that decide what a task does next. */
export interface LoopSettings {
  /** The number of retries of one request. Waits for rate limits do not count. */
  readonly retries: number;
  /** The number of retries of a request without any answer. Absent in older logs. */
  readonly silentRetries?: number;
  /** The number of repeated calls after which a task is ended. */
  readonly noProgressCalls: number;
}

/**
 * All decisions that were made when a task was created. It never changes and is stored in the first event, so
 * that a resume, a replay or another machine needs only the log.
 */
export interface TaskSpec {
  readonly id: string;
  /** The id of the root of its tree, which is its own id for a root. */
  readonly root: string;
  readonly parent: string | null;
  /** The parent's Task call that created it. */
  readonly parentCall: string | null;
  readonly depth: number;
  readonly agent: AgentDefinition;
  readonly description: string;
  readonly prompt: string;
  readonly model: ResolvedModel;
  readonly cwd: string;
  readonly rights: Rights;
  /** Canonical names of the tools that may run, in the order of requests. */
  readonly tools: readonly string[];
  /** Requests of the definition that are not met. Default: none, also in older logs. */
  readonly unmet?: readonly UnmetRequest[];
  readonly limits: TaskLimits;
  /**
   * SHA-256 of the blob that holds the RequestPrefix (system prompt and tool schemas, byte for byte). For a
   * task that continues a conversation, this is the prefix of that conversation.
   */
  readonly prefix: string;
  /**
   * The day that the prefix names, `YYYY-MM-DD`. Absent in older logs: the day on which the task was created.
   */
  readonly date?: string;
  /** Tasks of its parent that the prompt names, or whose results it got. The task may see and address them. */
  readonly handed: readonly string[];
  /** Context in addition to the prompt. Default: none. */
  readonly given?: InitialContext;
  /** The conversation of its parent that it continues. Default: it begins a conversation of its own. */
  readonly inherited?: ForkedConversation;
  /** The conversation of its parent that is summarized for it. Default: none. */
  readonly summarised?: SummarizedConversation;
  /** Agent types that the person's prompt names with `@`. The first answer must call each of them. */
  readonly mentions?: readonly string[];
  /** Items that the person attached to the prompt. Default: none. */
  readonly enclosed?: readonly QuotedItem[];
  /** Names of the skills whose instructions it began with. Default: none. */
  readonly skills?: readonly string[];
  /** True if it began in the background. */
  readonly background: boolean;
  /** The task that its conversation branched off from, and the event after which it did. Default: none. */
  readonly branchedFrom?: { readonly task: string; readonly seq: number };
  readonly source: TaskSource;
  /** Set if the task is not a conversation, but creates one child for each item. */
  readonly fanOut?: FanOut;
  /** JSON Schema of the call that the answer must match. Default: the schema of its definition, if any. */
  readonly outputSchema?: JsonObject;
  /** The arguments of the call as given, for `context.params_input`. */
  readonly params: JsonObject;
}
