import type { JsonObject } from '../base/json.ts';
import type {
  HookCondition,
  HookEventName,
  HookQuestion,
  HookSource,
  HookToolCall,
} from '../protocol/hook.ts';
import { describeHookMoment } from '../protocol/hook-text.ts';

/**
 * A hook of a program that uses Muster as a library. It gets the input of a hook as an object, and returns what a command hook
 * prints as JSON, or nothing.
 */
export type HookFunction = (
  input: JsonObject,
  context: { readonly signal: AbortSignal },
) => unknown;

/** A hook that runs a program. */
export interface CommandAction {
  readonly kind: 'command';
  /** A command line for a shell or, if there are arguments, the program to start. */
  readonly command: string;
  /** The arguments of the program, which is then started without a shell. If absent, a shell runs the command line. */
  readonly args?: readonly string[];
}

/** A hook that sends its input to a server. */
export interface HttpAction {
  readonly kind: 'http';
  readonly url: string;
  /** The headers as the file gives them. `$NAME` and `${NAME}` stand for variables of the environment. */
  readonly headers: Readonly<Record<string, string>>;
  /** The names of the variables that the headers may use. Every other variable is empty. */
  readonly allowedVariables: readonly string[];
}

/** A hook that asks the fast model whether it objects. */
export interface PromptAction {
  readonly kind: 'prompt';
  /** The question. `$ARGUMENTS` stands for the input of the hook as JSON, which otherwise follows the question. */
  readonly prompt: string;
}

/** A hook that has a subagent with tools for reading find out whether it objects. */
export interface AgentAction extends HookQuestion {
  readonly kind: 'agent';
}

/** A hook that calls a tool of an MCP server. */
export interface ToolAction extends Omit<HookToolCall, 'source'> {
  readonly kind: 'mcp_tool';
}

/** A hook that is a function of the program. */
export interface FunctionAction {
  readonly kind: 'function';
  /** The position in the options of the program. Different functions have different names. */
  readonly name: string;
  readonly run: HookFunction;
}

export type HookAction =
  | CommandAction
  | HttpAction
  | PromptAction
  | AgentAction
  | ToolAction
  | FunctionAction;

/** One hook of a file. */
export interface HookDefinition {
  readonly event: HookEventName;
  /** The pattern for the value of the occasion, such as a tool name. Empty: the hook runs at every occasion. */
  readonly matcher: string;
  /** The calls at which the hook runs (`if`). Default: all that the matcher covers. */
  readonly condition?: HookCondition;
  readonly action: HookAction;
  readonly source: HookSource;
  /** The position in the file, such as `hooks.PreToolUse[0].hooks[1]`. */
  readonly path: string;
  /** The time in milliseconds after which the hook is ended. */
  readonly timeoutMs: number;
  /** True if nobody waits for the hook, so that it decides nothing. What it says reaches the next request. */
  readonly isAsync: boolean;
  /** True if the exit code 2 of such a hook wakes its task (`asyncRewake`). */
  readonly isRewaking: boolean;
  /** True if the hook runs only at the first occasion of a conversation. */
  readonly isOnce: boolean;
  /** True if a failure of the hook counts as a refusal (`"onFailure": "block"`). */
  readonly blocksOnFailure: boolean;
}

/** Returns the command, the address or the question of a hook, for people. */
export function describeAction(action: HookAction): string {
  if (action.kind === 'http') return action.url;
  if (action.kind === 'function') return action.name;
  if (action.kind === 'prompt' || action.kind === 'agent') return action.prompt;
  if (action.kind === 'mcp_tool') return `${action.tool} of MCP server ${action.server}`;
  return [action.command, ...(action.args ?? [])].join(' ');
}

/** Describes when a hook runs, for people. The text quotes its file. */
export function describeMoment({ event, matcher, condition }: HookDefinition): string {
  return describeHookMoment({ event, matcher, condition: condition?.text });
}
