import type { JsonObject } from '../base/json.ts';
import type { PermissionMode, PermissionRule, Verdict } from './permission.ts';

/** The moments at which hooks run. The names are those of Claude Code's settings. */
export const HOOK_EVENTS = [
  'SessionStart',
  'InstructionsLoaded',
  'UserPromptExpansion',
  'UserPromptSubmit',
  'PreModelSwitch',
  'PostModelSwitch',
  'PreToolUse',
  'PermissionRequest',
  'PermissionDenied',
  'PostToolUse',
  'PostToolUseFailure',
  'PostToolBatch',
  'Elicitation',
  'ElicitationResult',
  'Notification',
  'SubagentStart',
  'SubagentStop',
  'Stop',
  'StopFailure',
  'PreCompact',
  'PostCompact',
  'SessionEnd',
] as const;
/** The moments at which hooks run. The names are those of Claude Code's settings. */
export type HookEventName = (typeof HOOK_EVENTS)[number];

/** The events about one call of a tool, at which the matched value is the name of the tool. */
export const CALL_HOOK_EVENTS: ReadonlySet<HookEventName> = new Set([
  'PreToolUse',
  'PermissionRequest',
  'PermissionDenied',
  'PostToolUse',
  'PostToolUseFailure',
]);

/** The origin of a hook. Only hooks of the user's own settings may allow a call. */
export interface HookSource {
  readonly kind: 'user' | 'project' | 'agent' | 'skill' | 'plugin';
  /** The path of the file, for people. */
  readonly where: string;
  /** The directory of the plugin to which the file belongs. Absolute. Absent for other files. */
  readonly pluginRoot?: string;
}

/** The calls at which a hook runs (`if`). */
export interface HookCondition {
  /** The permission rule as the file has it, for people. */
  readonly text: string;
  /**
   * The hook runs at calls to which one of these rules could apply. Empty if the text is no rule: the hook then runs at every
   * call and allows none, so that a guard keeps guarding.
   */
  readonly rules: readonly PermissionRule[];
  /** The hook may allow calls that these rules cover as a whole. */
  readonly allowing: readonly PermissionRule[];
}

/**
 * The result of comparing a hook with an occasion. `loosely`: the hook runs, but it may be meant for less than this call, so
 * its permission does not count.
 */
export type HookMatch = 'yes' | 'loosely' | 'no';

/** The task about which hooks are told. */
export interface HookTask {
  readonly id: string;
  /** The id of the conversation: the top task of the tree. */
  readonly rootId: string;
  readonly parentId: string | null;
  readonly agentType: string;
  readonly depth: number;
  /** Set for the subagent that answers the question of a hook. Hooks that start such a subagent do not run in it. */
  readonly isVerifier?: true;
  readonly cwd: string;
  readonly mode: PermissionMode;
  /** The log of the task and of the conversation. Absolute. */
  readonly logFile: string;
  readonly rootLogFile: string;
}

/** The hooks of a definition that is in use in a task. */
export interface DefinitionHooks {
  /** The kind is `agent` or `skill`. */
  readonly source: HookSource;
  /** In the format of Claude Code's settings. The same definition must always be the same object. */
  readonly hooks: JsonObject;
}

/** The question of a hook. */
export interface HookQuestion {
  readonly prompt: string;
  /** The name of the model that answers. Default: the fast one. */
  readonly model?: string;
}

/** The answer to the question of a hook, or a clause that says why there is none. */
export type HookAnswer =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problem: string };

/** Asks the fast model for a hook. The request counts like a turn of the task. Rejects only when the signal aborts. */
export type AskHookModel = (
  question: { readonly system: string; readonly prompt: string },
  signal: AbortSignal,
) => Promise<HookAnswer>;

/** Has a subagent answer the question of a hook, as a child of the task. Rejects only when the signal aborts. */
export type AskHookAgent = (question: HookQuestion, signal: AbortSignal) => Promise<HookAnswer>;

/** A call of a tool of an MCP server by a hook. */
export interface HookToolCall {
  /** The names as the server's entry and the server itself give them. */
  readonly server: string;
  readonly tool: string;
  readonly input: JsonObject;
  readonly source: HookSource;
}

/** Calls a tool for a hook, within the rights of the task. Rejects only when the signal aborts. */
export type CallHookTool = (call: HookToolCall, signal: AbortSignal) => Promise<HookAnswer>;

/** One moment at which hooks run. */
export interface HookOccasion {
  readonly event: HookEventName;
  readonly task: HookTask;
  /** The value that matchers are compared with, such as the name of the tool; null if the event has none. */
  readonly matched: string | null;
  /** The hooks of the agent of the task and of its skills, which run besides those of the settings. Default: none. */
  readonly definitions?: readonly DefinitionHooks[];
  /** The hook that has given the call its present arguments, and does not run again. Absent if none has. */
  readonly without?: HookIdentity;
  /** Compares the condition of a hook with the call. Absent if there is no call. */
  readonly matchCondition?: (condition: HookCondition) => Promise<HookMatch>;
  /** Asks a model for the hooks that need one. Absent outside of a task. */
  readonly ask?: AskHookModel;
  /** Has a subagent answer for the hooks that need one. Absent outside of a task. */
  readonly askAgent?: AskHookAgent;
  /** Calls tools for the hooks that need one. Absent outside of a task. */
  readonly callTool?: CallHookTool;
  /**
   * Finds the reason, as a sentence, why a hook may not send a request to an address for the task; null if it may. Absent
   * outside of a task.
   */
  readonly findUrlProblem?: (url: string) => Promise<string | null>;
  /** Wakes the task for what `takeLate` returns now. Absent outside of a task. */
  readonly wake?: () => void;
  /** The fields of the hook's input that belong to this event, such as `tool_name` and `tool_input`. */
  readonly fields: JsonObject;
}

/** The verdict of hooks about a call. `allow` comes only from hooks of the user's own settings. */
export interface HookVerdict {
  /** Whether the call runs, is asked about or is refused. */
  readonly verdict: Verdict;
  /** The reason, for the model and for people. Text of the hook, which may be hostile. */
  readonly reason: string;
  /** The hook that decided, for people. */
  readonly source: HookSource;
}

/** One hook among all. */
export interface HookIdentity {
  /** The origin of the hook. */
  readonly source: HookSource;
  /** The command, the address, or the start of the prompt. */
  readonly what: string;
}

/** One run of one hook, for the log. */
export interface HookRecord extends HookIdentity {
  /**
   * `ok`: it ended and was understood. `blocked`: it refused something. `failed`: it could not run, ended with an error
   * that blocks nothing, or printed something that is not understood. `timeout`: it was ended after its time.
   */
  readonly outcome: 'ok' | 'blocked' | 'failed' | 'timeout';
  /** The exit code, or the HTTP status; null if there is none. */
  readonly code: number | null;
  /** The duration in milliseconds. */
  readonly ms: number;
  /** True if it allowed a call, which only hooks of the user's own settings may do. Absent otherwise. */
  readonly ignoredAllow?: true;
  /** One line for people: its message, its error, or what of it was ignored. Absent if there is nothing to say. */
  readonly message?: string;
}

/** The answers of all hooks of one occasion together. */
export interface HookOutcome {
  /** The strictest verdict about a call. Absent if no hook has one. */
  readonly verdict?: HookVerdict;
  /** The reason why a prompt must not be sent, or why a task must go on instead of ending. Absent if none says so. */
  readonly block?: string;
  /** The new arguments of a call, which are judged again. Absent if no hook changes them. */
  readonly updatedInput?: JsonObject;
  /** The hook that gave the new arguments. Absent if there are none, and in older logs. */
  readonly changedBy?: HookIdentity;
  /** Texts for the model, in the order of the hooks. */
  readonly context: readonly string[];
  /** The reason for which the task must end now (`continue: false`). Absent if no hook says so. */
  readonly stop?: string;
  /** The runs that are worth a record in the log: all but silent successes. */
  readonly records: readonly HookRecord[];
}

/** The outcome of hooks that nobody has waited for, and the occasion at which they had begun. */
export interface LateHookOutcome {
  readonly event: HookEventName;
  readonly outcome: HookOutcome;
}

/** Runs hooks. */
export interface HookPort {
  /**
   * Tells whether any hook may run at this event, so that nothing is prepared for none.
   *
   * @param definitions the hooks of the definitions in use
   */
  has(event: HookEventName, definitions: readonly DefinitionHooks[]): boolean;
  /**
   * Notes that a conversation goes on in this process, so that the hooks of its end run when the process ends. Returns true
   * if it had not gone on here before.
   */
  beginSession(root: HookTask): boolean;
  /**
   * Runs all hooks of an occasion at the same time, each within its time. Never rejects because of a hook.
   *
   * @param signal ends all hooks when it aborts
   */
  run(occasion: HookOccasion, signal: AbortSignal): Promise<HookOutcome>;
  /** Takes what hooks of a task have said since the last time that nobody has waited for. Default: nothing. */
  takeLate?(task: string): readonly LateHookOutcome[];
}
