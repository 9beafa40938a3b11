import type { JsonObject } from '../base/json.ts';
import type { AgentProblem, AgentScope, LimitedTools } from './agent.ts';
import type { Effort } from './model.ts';

/** A skill: a `SKILL.md` with its folder. Its instructions are read when they are needed. */
export interface SkillDefinition {
  /** The name of its folder; `PLUGIN:FOLDER` in a plugin. Unique after shadowing. Compared without case. */
  readonly name: string;
  /** Tells the model what the skill does and when to use it. Empty if the file has no description. */
  readonly description: string;
  /** The instructions, with `\n` line ends, trimmed. */
  readonly body: string;
  /** The folder, which contains the files that the instructions name. Absolute, links resolved. */
  readonly directory: string;
  /** The path of the file as it was found, absolute. */
  readonly path: string;
  readonly scope: AgentScope;
  /** Canonical names of the only tools that it may use as a task. Default: all tools of its agent. */
  readonly allowedTools?: readonly string[];
  /** Limits of these tools to certain calls. Default: none. */
  readonly limitedTools?: LimitedTools;
  /** Canonical names of the tools that are denied to it as a task and to all tasks below it. */
  readonly disallowedTools: readonly string[];
  /** Set if it runs as a task of its own. Default: the agent that calls it follows the instructions. */
  readonly context?: 'fork';
  /** The agent type of that task. */
  readonly agent?: string;
  /** The model of that task, as written. */
  readonly model?: string;
  readonly effort?: Effort;
  /** True if models may call it and agent definitions may preload it. */
  readonly modelInvocable: boolean;
  /** A description of its arguments, as the file has it. */
  readonly argumentHint?: string;
  /** Names of its arguments, in order. Its instructions refer to them by these names. */
  readonly argumentNames: readonly string[];
  /** Fields that are not understood, unchanged. */
  readonly extra: JsonObject;
  readonly problems: readonly AgentProblem[];
}
