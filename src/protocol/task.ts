import type { JsonObject } from '../base/json.ts';
import type { AgentDefinition } from './agent.ts';
import type { QuotedItem } from './quoted-item.ts';
import type {
  InitialContext,
  ForkedConversation,
  SummarizedConversation,
} from './initial-context.ts';
import type { ResolvedModel } from './model.ts';
import type { Rights } from './permission.ts';
import type { FanOut } from './template.ts';
import type { UnmetRequest } from './unmet-request.ts';

/** Which way a task came in. */
export type TaskSource = 'cli' | 'model' | 'skill' | 'hook' | 'sdk' | 'acp' | 'mcp' | 'template';

/** Caps of one task, decided when it is made: the smallest of config, definition and call. */
export interface TaskLimits {
  /** Null: none. */
  readonly maxTurns: number | null;
  /** Paid tokens of this task and all below it. Null: none. */
  readonly maxTokens: number | null;
  /** USD of this task and all below it. Absent: no cap. */
  readonly maxCostUsd?: number;
  /** Bytes of tool results of this task and all below it. Absent: no cap. */
  readonly maxToolBytes?: number;
  /** Milliseconds from its start. Null: none (the main agent). */
  readonly wallMs: number | null;
  /** Tokens of the answer that reach the parent's model. */
  readonly resultMaxTokens: number;
}

/** Settings that decide what a task does next. */
export interface LoopSettings {
  /** Tries of one request after the first, rate-limit waits not counted. */
  readonly retries: number;
  /** Tries of one request after the first to which nothing came. Absent in older logs. */
  readonly silentRetries?: number;
  /** Calls that repeat each other before a task is ended. */
  readonly noProgressCalls: number;
}

/**
 * Everything that was decided when a task was made. Frozen, written whole in the first event: a
 * resume, a replay or another machine needs the log and nothing else.
 */
export interface TaskSpec {
  readonly id: string;
  /** The root of its tree; its own id for a root. */
  readonly root: string;
  readonly parent: string | null;
  /** The parent's Task call that made it. */
  readonly parentCall: string | null;
  readonly depth: number;
  readonly agent: AgentDefinition;
  readonly description: string;
  readonly prompt: string;
  readonly model: ResolvedModel;
  readonly cwd: string;
  readonly rights: Rights;
  /** Canonical names of the frozen tool view, in request order: what may run. */
  readonly tools: readonly string[];
  /** Requests of the definition that are not met. Default: none, also in older logs. */
  readonly unmet?: readonly UnmetRequest[];
  readonly limits: TaskLimits;
  /**
   * sha256 of the blob that holds the RequestPrefix (system and tool schemas, byte for byte). Of one that
   * inherits a conversation: that conversation's, whole.
   */
  readonly prefix: string;
  /** The day that the prefix names, `YYYY-MM-DD`. Absent, in older logs: the day on which the task was made. */
  readonly date?: string;
  /** Tasks of its parent that the prompt names, or whose results it got: it may see and reach them. */
  readonly handed: readonly string[];
  /** Absent: its prompt is all that it was told. */
  readonly given?: InitialContext;
  /** Absent: it begins a conversation of its own. */
  readonly inherited?: ForkedConversation;
  /** Absent: it gets no summary. */
  readonly summarised?: SummarizedConversation;
  /** Agent types that the person's prompt names with `@`: the first answer calls each of them. */
  readonly mentions?: readonly string[];
  /** What the person lays beside the prompt. Absent: nothing. */
  readonly enclosed?: readonly QuotedItem[];
  /** Names of the skills whose instructions it began with. Absent: none. */
  readonly skills?: readonly string[];
  /** Whether it began in the background. */
  readonly background: boolean;
  /** The task that its conversation branched off from, and after which event of it. Absent: none. */
  readonly branchedFrom?: { readonly task: string; readonly seq: number };
  readonly source: TaskSource;
  /** Set: it is no conversation; it makes one child for each item. */
  readonly fanOut?: FanOut;
  /** JSON Schema that the answer must be valid against, of the call. Absent: its definition's, if any. */
  readonly outputSchema?: JsonObject;
  /** The call's arguments as given, for `context.params_input`. */
  readonly params: JsonObject;
}
