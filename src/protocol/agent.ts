import type { JsonObject } from '../base/json.ts';
import type { OptionalLimitField } from './limits.ts';
import type { Effort } from './model.ts';
import type { MemoryScope } from './memory.ts';
import type { PermissionMode } from './permission.ts';

/** The tools that a definition asks for, by canonical name. Unknown names are recorded in `problems`. */
export interface ToolSelection {
  readonly mode: 'all' | 'allow' | 'deny';
  readonly names: readonly string[];
}

/** A tool of which a list grants only some calls. */
export interface ToolLimit {
  /** Canonical. */
  readonly tool: string;
  /** Texts of permission rules. A call runs only if they cover all of it. */
  readonly rules: readonly string[];
  /** True if the tool may also write files that do not exist yet, in any location. Default: it may not. */
  readonly newFiles?: true;
}

/** A list of tools that limits some of them to certain calls. */
export interface LimitedTools {
  /** Not empty. */
  readonly limits: readonly ToolLimit[];
  /** The tools of the same list that it does not limit, by canonical name. */
  readonly unlimited: readonly string[];
}

export type AgentScope = 'session' | 'project' | 'user' | 'plugin' | 'builtin';

export interface AgentOrigin {
  readonly scope: AgentScope;
  /** The format in which it was read: `muster`, `claude`, `codex`, … */
  readonly vendor: string;
  /** Absolute, or `builtin:NAME`, or `session:NAME`. */
  readonly path: string;
}

/** A warning about a definition. It never prevents the definition from loading. */
export interface AgentProblem {
  readonly code: string;
  readonly message: string;
  readonly path: string;
  readonly line?: number;
  /** The name of a requested tool that grants nothing. */
  readonly tool?: string;
}

/** Caps that a definition may ask for; the smallest of config, definition and call wins. */
export interface AgentLimits extends Readonly<Partial<Record<OptionalLimitField, number>>> {
  readonly maxTurns?: number;
  readonly maxTokens?: number;
  readonly wallSeconds?: number;
  readonly resultMaxTokens?: number;
}

/** A parameter of a prompt, written as `{{ name }}` in it. The task supplies the value. */
export interface AgentParameter {
  readonly name: string;
  readonly description: string;
  /** The value if the task gives none. Without a default, the task must give one. */
  readonly default?: string;
}

/** An agent definition, read from the file of any vendor and normalized. */
export interface AgentDefinition {
  /** As declared; unique after shadowing. Compared without case. */
  readonly name: string;
  readonly aliases: readonly string[];
  /** Tells the main agent when to use it. */
  readonly description: string;
  /** The body of the file: the agent's part of the system prompt. */
  readonly prompt: string;
  /** Parameters of the prompt. Default: none. */
  readonly parameters?: readonly AgentParameter[];
  readonly tools: ToolSelection;
  /** Lists that limit tools to certain calls; all of them apply. Default: every call of its tools may run. */
  readonly limitedTools?: readonly LimitedTools[];
  /** Canonical names that are removed from `tools`, and denied to all tasks below it. */
  readonly disallowedTools: readonly string[];
  /** Texts of permission rules that narrow its rights. Their paths begin with `//` or `~/`. */
  readonly rules?: { readonly ask: readonly string[]; readonly deny: readonly string[] };
  /** The requested model as written (`inherit`, a tier, an id, `provider/id`). Default: no request. */
  readonly model?: string;
  /**
   * All requested models if the file lists several, beginning with `model`. The first available one is used.
   */
  readonly models?: readonly string[];
  /** The mode as the vendor's file has it, verbatim; null if it is absent or not understood. */
  readonly permissionMode: string | null;
  /**
   * The corresponding permission mode, never wider than the vendor's; null if there is no request, so that the
   * mode of the parent applies.
   */
  readonly mode: PermissionMode | null;
  readonly limits: AgentLimits;
  readonly effort?: Effort;
  /**
   * The size at which the context is compacted: up to 1, as a share of the model's window for input; above 1,
   * in tokens. Default: 0.8.
   */
  readonly compactAt?: number;
  /** Names of the agents that it may delegate to. Default: any. */
  readonly delegatesTo?: readonly string[];
  /** JSON Schema that its answers must match. Default: any text is accepted. */
  readonly outputSchema?: JsonObject;
  /** True if Task calls run it in the background by default. Default: false. */
  readonly background?: boolean;
  /** True if its results may be reused. Default: the setting `task_tool.cache`. */
  readonly cache?: boolean;
  /** True if its prompt contains the project's context files and the state of the repository. Default: true. */
  readonly contextFiles?: boolean;
  /** Names of skills whose instructions are part of its prompt. */
  readonly skills?: readonly string[];
  /** The scope in which it has a directory of notes of its own. Default: it has none. */
  readonly memory?: MemoryScope;
  /** The first message of a conversation that runs as this agent and was started without one. */
  readonly initialPrompt?: string;
  /** True if calls that would need a person's permission are refused instead, for it and all tasks below it. */
  readonly refusesQuestions?: boolean;
  /**
   * True if only a person can choose it, because models are not told about it. Default: models may choose it.
   */
  readonly unlisted?: boolean;
  /**
   * True if it only modifies an agent of its own product, so that any other agent of its name takes precedence.
   */
  readonly changesOnly?: boolean;
  /** The reason why it cannot be started, in one sentence. Absent if it can. */
  readonly unusable?: string;
  readonly color?: string;
  readonly origin: AgentOrigin;
  /** Fields that are not understood, unchanged. */
  readonly extra: JsonObject;
  readonly problems: readonly AgentProblem[];
}

/** Returns the models that a definition asks for, most wanted first. */
export function requestedModels({
  model,
  models,
}: Pick<AgentDefinition, 'model' | 'models'>): readonly string[] {
  return models ?? (model === undefined ? [] : [model]);
}

/** Returns a definition without the fields that only describe its origin, and how it is chosen and shown. */
export function actingPart(agent: AgentDefinition) {
  const {
    aliases: _aliases,
    description: _description,
    origin: _origin,
    extra: _extra,
    problems: _problems,
    color: _color,
    cache: _cache,
    ...acting
  } = agent;
  return acting;
}

/** The name in a tool list that allows Write to create files, but not to replace any. */
export const NEW_FILES_WORD = 'create_file';

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
