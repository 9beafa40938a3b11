import type { CodeLocation } from '../base/code-search/format-ranking.ts';
import type { ErrorInfo } from '../base/errors.ts';
import type { JsonValue } from '../base/json.ts';
import type { ModelFault } from './fault.ts';
import type { PermissionMode } from './permission.ts';
import type { GrantScope, PermissionQuestion } from './question.ts';
import type { CommandRun, FileChange, FileSeen } from './tool.ts';

/** The statuses a task can have (docs/tasks.md). `interrupted` is derived, never written. */
export const TASK_STATUSES = [
  'queued',
  'running',
  'parked',
  'completed',
  'partial',
  'failed',
  'stopped',
  'killed',
  'interrupted',
] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** The statuses that end a task. */
export type EndStatus = 'completed' | 'partial' | 'failed' | 'stopped' | 'killed';

/** The way in which a background shell ended. `lost`: together with the process that ran it, or unobserved. */
export type ShellEnd = 'exited' | 'stopped' | 'killed' | 'output_limit' | 'lost';

/** A background shell that a task started. */
export interface ShellRun {
  readonly id: string;
  readonly command: string;
  /** The way in which it ended; null while it runs. */
  readonly end: ShellEnd | null;
  /** The exit code, or null while the command runs, if a signal ended it, and if nobody saw it end. */
  readonly exitCode: number | null;
}

/** A point in which the log contradicts an answer, or a fact that a reader of the answer should know. */
export interface ClaimFlag {
  /**
   * `file`: a path that does not exist; `check`: a last run of the tests or the build that failed; `done`: no tool
   * call at all. Older logs also have `command`, and flags of each kind that quote a sentence.
   */
  readonly kind: 'file' | 'command' | 'check' | 'done';
  /** The part of the answer that is in doubt, such as a path, cut; empty if `why` is the complete statement. */
  readonly claim: string;
  /** The fact in the log. */
  readonly why: string;
}

export type EnvelopeStatus = 'success' | 'partial' | 'error';

/** The part of a child's receipt that its parent's log keeps, of the child and all below it. Its size is bounded. */
export interface ChildReceipt {
  /** The last commands. Those of one task stand in the order in which they ended. */
  readonly commands: readonly CommandRun[];
  /** The number of further commands that there were, or may have been. */
  readonly commandsLeftOut: number;
  /** Names of the tools that ran. */
  readonly tools: readonly string[];
}

/** The record of what really happened in a task, counted by Muster and not by the model. */
export interface Receipt {
  readonly filesRead: readonly FileSeen[];
  readonly filesChanged: readonly FileChange[];
  readonly commands: readonly CommandRun[];
  /** The commands that were started in the background. */
  readonly shells: readonly ShellRun[];
  readonly children: readonly string[];
  /** The receipt of each child by its id. A child that has not ended has none, and in older logs no child has. */
  readonly childReceipts: Readonly<Record<string, ChildReceipt>>;
  /** Calls that were refused, as `Tool: reason`. */
  readonly refusals: readonly string[];
  readonly models: readonly string[];
  /** Faults of the model or its provider after which Muster tried again or told the model. */
  readonly faults: readonly { readonly fault: ModelFault; readonly count: number }[];
  /** The earlier task whose result is reused, and when it ended (ms since the epoch). Absent if none is. */
  readonly reused?: { readonly task: string; readonly at: number };
  readonly endedBecause: string;
  /** The flags of the answer (docs/receipts.md). */
  readonly claims: readonly ClaimFlag[];
}

/** A question for programs, as `muster tasks answer --json` lists it. */
export interface QuestionJson extends Pick<
  PermissionQuestion,
  'commands' | 'paths' | 'hosts' | 'edits' | 'input' | 'rule' | 'scopes'
> {
  readonly id: string;
  readonly kind: 'permission' | 'input' | 'plan';
  readonly task_id: string;
  readonly chain: readonly string[];
  readonly tool: string;
  /** The question of kind `input`; `options` holds its numbered answers. */
  readonly text: string | null;
  readonly options: readonly string[];
  readonly reason: string | null;
  /** The mode that the answer `mode` would grant to the agent. Absent if it is not offered. */
  readonly agent_mode?: {
    readonly agent: string;
    readonly mode: PermissionMode;
    readonly scopes: readonly GrantScope[];
  };
}

export interface EnvelopeUsage {
  readonly input: number;
  readonly output: number;
  readonly cache_read: number;
  readonly cache_write: number;
}

/** A location in the workspace. */
export type ResultPlace = CodeLocation;

/** The result of a task, for programs. */
export interface ResultEnvelope {
  /** `partial`: the task reached a limit, and the answer is the result up to then. */
  readonly status: EnvelopeStatus;
  readonly data: {
    /** The status of the task. */
    readonly status: TaskStatus;
    /** The id, as `muster tasks` accepts it. */
    readonly task_id: string;
    /** The complete answer. */
    readonly result: string;
    /**
     * The answer as JSON that matches the task's output schema; null if it does not match or there is no
     * schema.
     */
    readonly structured: JsonValue;
    /** Locations in the answer of the offline engine, best first. Absent if another model answered. */
    readonly places?: readonly ResultPlace[];
    /** The number of calls of each tool. */
    readonly tool_summary: readonly { readonly tool: string; readonly count: number }[];
    /** Absolute paths of files that the task and all tasks below it changed. */
    readonly files_modified: readonly string[];
    /** The model that answered last, as `provider/id`. */
    readonly model_used: string;
    /** The agent that the task ran as. */
    readonly subagent_type: string;
    /** The number of answers of its model. */
    readonly turns: number;
    /** The usage of this task alone, as the provider reported it. */
    readonly usage: EnvelopeUsage;
    /** The cost in USD, or null if no price is known. */
    readonly cost_usd: number | null;
    /**
     * The estimated usage of answers that ended without the provider's numbers, such as aborted ones, in
     * addition to `usage`. Absent if there were none.
     */
    readonly estimated?: {
      readonly answers: number;
      readonly usage: EnvelopeUsage;
      readonly cost_usd: number | null;
    };
    /** Set if this is the result of an earlier task that ended at that time (ISO 8601). It cost nothing. */
    readonly reused?: { readonly task_id: string; readonly at: string };
    readonly receipt: Receipt;
    /** Path of the event log; null with --no-log. */
    readonly transcript: string | null;
    /** Path of the text file that grows while the task works; null with --no-log. */
    readonly output_file: string | null;
    /** Questions that wait for an answer. Absent if there are none. */
    readonly questions?: readonly QuestionJson[];
  };
  /** The text for the parent's model: the answer within its limit, with the line of facts. */
  readonly text: string;
  readonly stats: {
    /** Milliseconds from its start to its end, or until now. */
    readonly time_ms: number;
    readonly tool_calls: number;
    /** As `model_used`. */
    readonly model: string;
  };
  readonly context: { readonly cwd: string; readonly params_input: JsonValue };
  readonly error: ErrorInfo | null;
}
