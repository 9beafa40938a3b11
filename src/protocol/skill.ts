import type { JsonObject } from '../base/json.ts';
import type { AgentProblem, AgentScope, LimitedTools } from './agent.ts';
import type { Effort } from './model.ts';

/** A skill: a file `SKILL.md` with its directory. A task reads the instructions when it needs them. */
export interface SkillDefinition {
  /** The name of the directory; `PLUGIN:DIRECTORY` in a plugin. It is unique among the skills in use, and compared without case. */
  readonly name: string;
  /** A description for the model: what the skill does and when to use it. Empty if the file has none. */
  readonly description: string;
  /** The instructions, with `\n` line ends, trimmed. */
  readonly body: string;
  /** The directory with the files that the instructions name. An absolute path with all links resolved. */
  readonly directory: string;
  /** The absolute path of the file, in which links are not resolved. */
  readonly path: string;
  readonly scope: AgentScope;
  /** The canonical names of the tools that the skill may use if it runs as a task. Default: all tools of the agent. */
  readonly allowedTools?: readonly string[];
  /** The limits of these tools to certain calls. Default: none. */
  readonly limitedTools?: LimitedTools;
  /** The canonical names of the tools that are denied to the skill if it runs as a task, and to all tasks below. */
  readonly disallowedTools: readonly string[];
  /** Set if the skill runs as a separate task. Default: the agent that calls it follows the instructions. */
  readonly context?: 'fork';
  /** The agent type of that task. */
  readonly agent?: string;
  /** The requested model of that task, as in the file. */
  readonly model?: string;
  readonly effort?: Effort;
  /** True if models may call the skill, and agent definitions may include it in the prompt. */
  readonly modelInvocable: boolean;
  /** False if people may not run the skill by its name. Default: they may. */
  readonly userInvocable?: false;
  /** A description of the arguments, as in the file. */
  readonly argumentHint?: string;
  /** The names of the arguments in order. The instructions refer to the arguments by these names. */
  readonly argumentNames: readonly string[];
  /** The hooks that run in a task once it has the skill, in the format of Claude Code's settings. Default: none. */
  readonly hooks?: JsonObject;
  /** The unknown fields of the file, unchanged. */
  readonly extra: JsonObject;
  readonly problems: readonly AgentProblem[];
}
