import type { TaskWorkspace, WorkspaceResult } from './workspace.ts';
import type { AcceptanceOutcome } from './acceptance.ts';
import type { CodeLocation } from '../base/code-search/format-ranking.ts';
import type { ErrorInfo } from '../base/errors.ts';
import type { JsonValue } from '../base/json.ts';
import type { ModelFault } from './fault.ts';
import type { FormField } from './form.ts';
import type { PermissionMode } from './permission.ts';
import type { GrantScope, PermissionQuestion } from './question.ts';
import type { CommandRun, FileChange, FileSeen, LeftProcesses, UnlistedChanges } from './tool.ts';

/** The statuses of a task (docs/tasks.md). `interrupted` is derived from the log and the locks, and never written. */
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
/** The statuses of a task (docs/tasks.md). `interrupted` is derived from the log and the locks, and never written. */
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** The statuses of a task that has ended. */
export type EndStatus = 'completed' | 'partial' | 'failed' | 'stopped' | 'killed';

/**
 * The way in which a background shell ended. `output_limit`, `process_limit`: it was stopped because of this limit.
 * `lost`: its process died with the process that started it, or its end was not observed.
 */
export type ShellEnd = 'exited' | 'stopped' | 'killed' | 'output_limit' | 'process_limit' | 'lost';

/** A background shell that a task started. */
export interface ShellRun {
  /** The id of the shell. */
  readonly id: string;
  /** The command line. */
  readonly command: string;
  /** The way in which the shell ended; null while it runs. */
  readonly end: ShellEnd | null;
  /** The exit code; null while the command runs, if a signal ended it, or if its end was not observed. */
  readonly exitCode: number | null;
  /** The processes that the command left running. Absent if there were none. */
  readonly left?: LeftProcesses;
  /** Set if the shell is work of a server for a call. The exit code is then 0 for success and 1 for an error. */
  readonly remote?: true;
}

/** A flag: a statement of an answer that the log does not support, or a fact that a reader of the answer should know. */
export interface ClaimFlag {
  /**
   * `file`: the answer names a path that does not exist; `check`: the last run of the tests or the build failed; `done`:
   * the task made no tool call. Older logs also contain `command`, and flags that quote a sentence of the answer.
   */
  readonly kind: 'file' | 'command' | 'check' | 'done';
  /** The part of the answer that is in doubt, such as a path, shortened; empty if `why` is a complete statement. */
  readonly claim: string;
  /** The fact in the log. */
  readonly why: string;
}

/** The outcome of a task for programs. `partial`: a limit was reached, and the result is what the task had until then. */
export type EnvelopeStatus = 'success' | 'partial' | 'error';

/** The part of the receipts of a child and all tasks below it that the log of the parent contains. Its size is bounded. */
export interface ChildReceipt {
  /** The last commands. The commands of one task are in the order in which they ended. */
  readonly commands: readonly CommandRun[];
  /** The number of further commands. It may be too high. */
  readonly commandsLeftOut: number;
  /** The names of the tools that ran. */
  readonly tools: readonly string[];
}

/** The receipt of a task: what the task did, as recorded by Muster and not by the model. */
export interface Receipt {
  /** The files that the task has read. */
  readonly filesRead: readonly FileSeen[];
  /** The files that the task and all tasks below it changed. */
  readonly filesChanged: readonly FileChange[];
  /** Changes by commands that are not listed one by one. Absent if there are none. */
  readonly unlistedChanges?: readonly UnlistedChanges[];
  /** The commands that have ended, in the order in which they ended. */
  readonly commands: readonly CommandRun[];
  /** The commands that were started in the background. */
  readonly shells: readonly ShellRun[];
  /** The ids of the children. */
  readonly children: readonly string[];
  /** The receipt of each child by its id. It is missing for children that have not ended, and in older logs. */
  readonly childReceipts: Readonly<Record<string, ChildReceipt>>;
  /** The refused calls, as `Tool: reason`. */
  readonly refusals: readonly string[];
  /** The findings that the task has posted on the board of its tree. Absent if it has posted none. */
  readonly findings?: readonly { readonly id: string; readonly title: string }[];
  /** The models that answered, as `provider/id`. The last one is the newest. */
  readonly models: readonly string[];
  /** The faults of the model or its provider after which Muster repeated the request or informed the model. */
  readonly faults: readonly { readonly fault: ModelFault; readonly count: number }[];
  /** The earlier task whose result is reused, and the time of its end in ms since the epoch. Absent if no result is reused. */
  readonly reused?: { readonly task: string; readonly at: number };
  /** The reason why the task ended, in one sentence; `it has not ended` until then. */
  readonly endedBecause: string;
  /** The last check of the work. Absent if the work did not have to be accepted. */
  readonly acceptance?: AcceptanceOutcome;
  /** The flags of the answer (docs/receipts.md). */
  readonly claims: readonly ClaimFlag[];
}

/** A question in the form in which `muster tasks answer --json` lists it for programs. */
export interface QuestionJson extends Pick<
  PermissionQuestion,
  'commands' | 'paths' | 'hosts' | 'edits' | 'input' | 'rule' | 'scopes'
> {
  /** The id of the question, which `muster tasks answer` accepts. */
  readonly id: string;
  readonly kind: 'permission' | 'input' | 'plan' | 'server';
  /** The id of the task that asks. */
  readonly task_id: string;
  /** The names of the agents, from the main agent down to the agent that asks. */
  readonly chain: readonly string[];
  /** The description of the task; null for the main agent. */
  readonly description: string | null;
  /** The canonical name of the tool. */
  readonly tool: string;
  /** All rules that the answer `always` adds: `rule` and those for further parts of a compound command. */
  readonly rules: readonly string[];
  /** True if the answer `edits` is offered. */
  readonly offers_edits: boolean;
  /** The text of the question, or the plan; null for a question of the kind `permission`. */
  readonly text: string | null;
  /** The numbered answers to a question of kind `input`; otherwise empty. */
  readonly options: readonly string[];
  /** The reason why a person is asked whether a call may run; null for the other kinds. */
  readonly reason: string | null;
  /** The mode that the answer `mode` would grant to the agent. Absent if this answer is not offered. */
  readonly agent_mode?: {
    /** The name of the agent. */
    readonly agent: string;
    /** The mode that its definition requests. */
    readonly mode: PermissionMode;
    /** The possible scopes of the grant. */
    readonly scopes: readonly GrantScope[];
  };
  /** The hints of an MCP server about its tool. Absent if there are none. */
  readonly server_says?: string;
  /** The MCP server that asks. This and the next two fields are only in a question of the kind `server`. */
  readonly server?: string;
  /** The fields of the form to fill in; empty if there are none. */
  readonly fields?: readonly FormField[];
  /** The address that the user is asked to open; null for a form. */
  readonly url?: string | null;
}

/** The tokens of a task in the result envelope. Each token of a prompt is counted once. */
export interface EnvelopeUsage {
  /** The tokens of the prompts, without those of `cache_read` and `cache_write`. */
  readonly input: number;
  /** The tokens of the answers, including thinking. */
  readonly output: number;
  /** The tokens of the prompts that were read from a cache. */
  readonly cache_read: number;
  /** The tokens of the prompts that were written to a cache. */
  readonly cache_write: number;
}

/** A location in the workspace. */
export type ResultPlace = CodeLocation;

/** The result of a task, for programs. */
export interface ResultEnvelope {
  /** `partial`: the task reached a limit, and `result` is what it had found until then. */
  readonly status: EnvelopeStatus;
  /** The result and the facts about the task. */
  readonly data: {
    /** The status of the task. */
    readonly status: TaskStatus;
    /** The id of the task, which `muster tasks` accepts. */
    readonly task_id: string;
    /** The complete answer. */
    readonly result: string;
    /**
     * The answer as JSON that matches the output schema of the task; null if the answer does not match, or if the task has
     * no schema.
     */
    readonly structured: JsonValue;
    /** The locations in the answer of the offline engine, the best first. Absent if another model answered. */
    readonly places?: readonly ResultPlace[];
    /** The number of calls of each tool. */
    readonly tool_summary: readonly { readonly tool: string; readonly count: number }[];
    /** The absolute paths of the files that the task and all tasks below it changed. */
    readonly files_modified: readonly string[];
    /** The model that answered last, as `provider/id`. */
    readonly model_used: string;
    /** The name of the agent as which the task ran. */
    readonly subagent_type: string;
    /** The number of answers of the model. */
    readonly turns: number;
    /** The usage of this task alone, as the provider reported it. */
    readonly usage: EnvelopeUsage;
    /** The cost in USD, or null if no price is known. */
    readonly cost_usd: number | null;
    /**
     * The estimated usage of answers for which the provider reported no usage, such as aborted answers. It is not included
     * in `usage`. Absent if there are no such answers.
     */
    readonly estimated?: {
      /** The number of these answers. */
      readonly answers: number;
      /** The estimated tokens. */
      readonly usage: EnvelopeUsage;
      /** The estimated cost in USD; null if no price is known. */
      readonly cost_usd: number | null;
    };
    /** Set if the result is that of an earlier task, which ended at the time `at` (ISO 8601). The reuse cost nothing. */
    readonly reused?: { readonly task_id: string; readonly at: string };
    /** The receipt: what the task did, as recorded by Muster. */
    readonly receipt: Receipt;
    /**
     * The task's own tree of files, and what the task left in it. Absent for a task that works in the directory of its parent.
     */
    readonly workspace?: {
      /** The kind of the tree. */
      readonly kind: TaskWorkspace['kind'];
      /** The directory for which the tree stands. Absolute. */
      readonly source: string;
      /** The directory of the tree. Absolute. */
      readonly tree: string;
      /** The branch of a worktree; null for a copy. */
      readonly branch: string | null;
      /** The commit, or for a copy the time, of the state from which the task began; null until it has begun. */
      readonly base: string | null;
      /** The changes that the task left; null until it has ended. */
      readonly left: WorkspaceResult | null;
    };
    /** The path of the event log; null with --no-log. */
    readonly transcript: string | null;
    /** The path of the text file to which the output of the task is written while it works; null with --no-log. */
    readonly output_file: string | null;
    /** The questions that wait for an answer. Absent if there are none. */
    readonly questions?: readonly QuestionJson[];
  };
  /** The text for the model of the parent: the answer, within its maximum length, and the line from the receipt. */
  readonly text: string;
  /** The numbers about the task. */
  readonly stats: {
    /** The milliseconds from the start of the task to its end, or until now. */
    readonly time_ms: number;
    /** The number of calls of tools. */
    readonly tool_calls: number;
    /** The same as `model_used`. */
    readonly model: string;
  };
  /** The circumstances of the task: its working directory, and the arguments of the call that created it. */
  readonly context: { readonly cwd: string; readonly params_input: JsonValue };
  /** The error because of which the task failed or ended early; null if there is none. */
  readonly error: ErrorInfo | null;
}
