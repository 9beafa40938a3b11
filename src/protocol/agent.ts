import type { JsonObject } from '../base/json.ts';
import type { AcceptanceCriteria } from './acceptance.ts';
import type { OptionalLimitField } from './limits.ts';
import type { Effort } from './model.ts';
import type { MemoryScope } from './memory.ts';
import type { PermissionMode } from './permission.ts';
import type { RemoteAgent } from './remote-agent.ts';

/** The tools that a definition asks for. */
export interface ToolSelection {
  /** `all`: every tool. `allow`: only the tools in `names`. `deny`: every tool except those in `names`. */
  readonly mode: 'all' | 'allow' | 'deny';
  /** Canonical names. The `problems` of the definition list the names of unknown tools. */
  readonly names: readonly string[];
}

/** A tool for which a tool list grants only some calls. */
export interface ToolLimit {
  /** The canonical name. */
  readonly tool: string;
  /** The texts of permission rules. A call may run only if the rules cover all parts of the call. */
  readonly rules: readonly string[];
  /** True if the tool may also create files that do not exist yet, in any directory. Default: it may not. */
  readonly newFiles?: true;
}

/** A tool list that limits some of its tools to certain calls. */
export interface LimitedTools {
  /** The limited tools; at least one. */
  readonly limits: readonly ToolLimit[];
  /** The canonical names of the tools in the same list that are not limited. */
  readonly unlimited: readonly string[];
}

/** The owner of a definition: a program or flag, a project, the user, a plugin, or Muster itself. */
export type AgentScope = 'session' | 'project' | 'user' | 'plugin' | 'builtin';

/** The place from which a definition was read. */
export interface AgentOrigin {
  /** The owner of the place. */
  readonly scope: AgentScope;
  /** The format of the file: `muster`, `claude`, `codex`, … */
  readonly vendor: string;
  /** The absolute path of the file, or `builtin:NAME`, or `session:NAME`. */
  readonly path: string;
}

/** A warning about a definition. The definition is loaded nevertheless. */
export interface AgentProblem {
  /** A short name of the kind of problem, such as `id-clash`. */
  readonly code: string;
  /** The problem and its remedy in one sentence. */
  readonly message: string;
  /** The path of the file, or `builtin:NAME`, or `session:NAME`. */
  readonly path: string;
  /** The line number in the file, from 1. Absent if the problem has no line. */
  readonly line?: number;
  /** The name of the requested tool that the definition does not get. */
  readonly tool?: string;
}

/** The limits that a definition may set. The smallest of the limits in configuration, definition and call applies. */
export interface AgentLimits extends Readonly<Partial<Record<OptionalLimitField, number>>> {
  /** The maximum number of answers of a task. */
  readonly maxTurns?: number;
  /** The maximum number of paid tokens of a task with all tasks below it. */
  readonly maxTokens?: number;
  /** The maximum time of an activation in seconds. */
  readonly wallSeconds?: number;
  /** The maximum number of tokens of the answer that the model of the parent gets. */
  readonly resultMaxTokens?: number;
}

/** A parameter of a prompt, which contains it as `{{ name }}`. The caller that creates the task supplies the value. */
export interface AgentParameter {
  /** The name in the prompt. */
  readonly name: string;
  /** The meaning of the parameter, for whoever supplies the value. */
  readonly description: string;
  /** The value if the caller supplies none. Without a default, the caller must supply a value. */
  readonly default?: string;
}

/** An agent definition, read from the file of any vendor and normalized. */
export interface AgentDefinition {
  /** The name in the file. It is unique among the agents in use, and is compared without case. */
  readonly name: string;
  /** Other names of the agent, under which a Task call finds it, too. */
  readonly aliases: readonly string[];
  /** A description for the main agent: when to use this agent. */
  readonly description: string;
  /** The body of the file, which becomes a part of the system prompt. */
  readonly prompt: string;
  /** The parameters of the prompt. Default: none. */
  readonly parameters?: readonly AgentParameter[];
  /** The tools of the agent. */
  readonly tools: ToolSelection;
  /** The tool lists that limit tools to certain calls; all of them apply. Default: every call of the tools may run. */
  readonly limitedTools?: readonly LimitedTools[];
  /** The canonical names of the tools that are removed from `tools` and denied to all tasks below. */
  readonly disallowedTools: readonly string[];
  /** The texts of permission rules that narrow the rights of the agent. The paths in them begin with `//` or `~/`. */
  readonly rules?: { readonly ask: readonly string[]; readonly deny: readonly string[] };
  /** The requested model as in the file (`inherit`, a tier, an id, `provider/id`). Default: no model is requested. */
  readonly model?: string;
  /**
   * All requested models if the file lists several, beginning with `model`. The first usable model is used.
   */
  readonly models?: readonly string[];
  /** The mode verbatim as in the file; null if the file has no mode, or an unknown mode. */
  readonly permissionMode: string | null;
  /**
   * The permission mode that corresponds to `permissionMode` and is never wider; null if no mode is requested, so that
   * the mode of the parent applies.
   */
  readonly mode: PermissionMode | null;
  /** The limits of each task of the agent. */
  readonly limits: AgentLimits;
  /** The amount of thinking before an answer. Default: that of the model. */
  readonly effort?: Effort;
  /**
   * The size at which the context is compacted. A number up to 1 is a share of the model's window for input; a larger
   * number is in tokens. Default: 0.8.
   */
  readonly compactAt?: number;
  /** The names of the agents to which this agent may delegate. Default: all agents. */
  readonly delegatesTo?: readonly string[];
  /** The JSON Schema that the final answer must match. Default: any text is accepted. */
  readonly outputSchema?: JsonObject;
  /** The conditions under which the work of the agent is accepted, unless a call gives others. Default: none. */
  readonly accept?: AcceptanceCriteria;
  /** The isolation that the definition asks for, as it is written there. Default: none. */
  readonly isolation?: string;
  /** True if Task calls run the agent in the background unless they say otherwise. Default: false. */
  readonly background?: boolean;
  /** True if results of the agent may be reused. Default: the setting `task_tool.cache`. */
  readonly cache?: boolean;
  /** True if the prompt contains the context files of the project and the state of the repository. Default: true. */
  readonly contextFiles?: boolean;
  /** The names of the skills whose instructions are part of the prompt. */
  readonly skills?: readonly string[];
  /** The scope in which the agent has its own directory of notes. Default: the agent has no such directory. */
  readonly memory?: MemoryScope;
  /**
   * The entries of the MCP servers that only tasks of this agent have, by name and as written. They may contain secrets,
   * so logs contain them without their texts. Default: it has none.
   */
  readonly servers?: JsonObject;
  /** The program or server that does the work instead of a model. Default: a model does it. */
  readonly remote?: RemoteAgent;
  /** The first message of a conversation with this agent as the main agent, if the user starts it without a message. */
  readonly initialPrompt?: string;
  /** The hooks that run in tasks of this agent, in the format of Claude Code's settings, as in the file. Default: none. */
  readonly hooks?: JsonObject;
  /** True if calls that need a person's permission are refused, in tasks of this agent and all tasks below. */
  readonly refusesQuestions?: boolean;
  /**
   * True if the agent is not in the list for models, so that only a person can choose it. Default: false.
   */
  readonly unlisted?: boolean;
  /**
   * True if the file only modifies a built-in agent of its product. Any other agent with this name then takes precedence.
   */
  readonly changesOnly?: boolean;
  /** The reason why the agent cannot be started, in one sentence. Absent if it can be started. */
  readonly unusable?: string;
  /** The color of the agent in the terminal UI, as in the file. Default: none. */
  readonly color?: string;
  /** The file or other place from which the definition was read. */
  readonly origin: AgentOrigin;
  /** The unknown fields of the file, unchanged. */
  readonly extra: JsonObject;
  /** The warnings about the definition. */
  readonly problems: readonly AgentProblem[];
}

/** Lists the models that a definition requests, in order of preference. */
export function requestedModels({
  model,
  models,
}: Pick<AgentDefinition, 'model' | 'models'>): readonly string[] {
  return models ?? (model === undefined ? [] : [model]);
}

/**
 * Removes the fields that do not affect the work of an agent: those for its origin, choice and display. The entries of
 * its servers are removed, too, because logs do not contain their texts; the user trusts them with the file.
 */
export function actingPart(agent: AgentDefinition) {
  const {
    aliases: _aliases,
    description: _description,
    origin: _origin,
    extra: _extra,
    problems: _problems,
    color: _color,
    cache: _cache,
    servers: _servers,
    ...rest
  } = agent;
  return rest;
}

/** The name in a tool list that allows Write to create files, but not to replace existing files. */
const NEW_FILES_WORD = 'create_file';

/**
 * Formats the tools of a definition as in a tool list. Limited tools are written as the rules that limit them:
 * `Bash(git log:*)`.
 */
export function listedTools({
  tools,
  limitedTools: [first] = [],
}: Pick<AgentDefinition, 'tools' | 'limitedTools'>): readonly string[] {
  return tools.names.flatMap((name) => {
    const limit = first?.limits.find(({ tool }) => tool === name);
    if (limit === undefined) return [name];
    return [...limit.rules, ...(limit.newFiles === true ? [NEW_FILES_WORD] : [])];
  });
}
