import type { JsonObject } from '../base/json.ts';
import type { MemoryScope } from './memory.ts';
import type { PermissionMode } from './permission.ts';

/** Which tools a definition asks for. Names are canonical; what is unknown stays in `problems`. */
export interface ToolSelection {
  readonly mode: 'all' | 'allow' | 'deny';
  readonly names: readonly string[];
}

/** A tool of which a list grants only some calls. */
export interface ToolLimit {
  /** Canonical. */
  readonly tool: string;
  /** Texts of permission rules. A call runs only where they cover all of it. */
  readonly rules: readonly string[];
  /** Whether the tool may also write files that do not exist yet, wherever they lie. Absent: it may not. */
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
  /** The format it was read as: `muster`, `claude`, `codex`, … */
  readonly vendor: string;
  /** Absolute, or `builtin:NAME`, or `session:NAME`. */
  readonly path: string;
}

/** Something worth telling about a definition; a warning never keeps it from loading. */
export interface AgentProblem {
  readonly code: string;
  readonly message: string;
  readonly path: string;
  readonly line?: number;
  /** The word for a tool that the definition asks for and that grants nothing. */
  readonly tool?: string;
}

/** How much a model thinks before it answers, least first. */
export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type Effort = (typeof EFFORTS)[number];

/** Caps that a definition may ask for; the smallest of config, definition and call wins. */
export interface AgentLimits {
  readonly maxTurns?: number;
  readonly maxTokens?: number;
  readonly maxCostUsd?: number;
  readonly maxToolBytes?: number;
  readonly wallSeconds?: number;
  readonly resultMaxTokens?: number;
}

/** What a prompt leaves open: `{{ name }}` in it, which the task is to say. */
export interface AgentParameter {
  readonly name: string;
  readonly description: string;
  /** What it is where the task does not say; absent: the task must. */
  readonly default?: string;
}

/** An agent file of any vendor, normalised. */
export interface AgentDefinition {
  /** As declared; unique after shadowing. Compared without case. */
  readonly name: string;
  readonly aliases: readonly string[];
  /** When to use it: what the main agent chooses by. */
  readonly description: string;
  /** The body: its own part of the system prompt. */
  readonly prompt: string;
  /** What its prompt leaves open; absent: nothing. */
  readonly parameters?: readonly AgentParameter[];
  readonly tools: ToolSelection;
  /** Lists that limit tools to certain calls; all of them hold. Absent: every call of its tools may run. */
  readonly limitedTools?: readonly LimitedTools[];
  /** Canonical names taken from what `tools` gives, and denied to all below it. */
  readonly disallowedTools: readonly string[];
  /** Texts of permission rules that narrow its rights; their paths begin with `//` or `~/`. */
  readonly rules?: { readonly ask: readonly string[]; readonly deny: readonly string[] };
  /** A wish as written (`inherit`, a tier, an id, `provider/id`), absent for none. */
  readonly model?: string;
  /** Where the file lists several, `model` the first: the first that can be had is taken. */
  readonly models?: readonly string[];
  /** The mode as the file's vendor words it, verbatim; null when absent or not understood. */
  readonly permissionMode: string | null;
  /** What that means here, never wider than the vendor meant; null: no wish, its parent's holds. */
  readonly mode: PermissionMode | null;
  readonly limits: AgentLimits;
  readonly effort?: Effort;
  /**
   * When room is made in its context: up to 1, a share of what its model's window leaves for input; above,
   * tokens. Absent: 0.8.
   */
  readonly compactAt?: number;
  /** Names of the agents that it may delegate to; absent: any. */
  readonly delegatesTo?: readonly string[];
  /** JSON Schema that its answers must be valid against; absent: any text will do. */
  readonly outputSchema?: JsonObject;
  /** Whether a Task call that does not say runs it in the background; absent: no. */
  readonly background?: boolean;
  /** Whether a result of it may be reused; absent: as `task_tool.cache` says. */
  readonly cache?: boolean;
  /** Whether its prompt holds the project's context files and how the repository stands; absent: yes. */
  readonly contextFiles?: boolean;
  /** Names of skills whose instructions stand in its prompt. */
  readonly skills?: readonly string[];
  /** Where it keeps a directory of notes of its own; absent: it has none. */
  readonly memory?: MemoryScope;
  /** The first message of a conversation that runs as this agent and was given none. */
  readonly initialPrompt?: string;
  /** Whether what would be asked of a person is refused instead, for it and all below it. */
  readonly refusesQuestions?: boolean;
  /** Whether only a person chooses it: no model is told of it. Absent: the model may choose it. */
  readonly unlisted?: boolean;
  /** Whether it only changes an agent of its own product: any other of its name goes before it. */
  readonly changesOnly?: boolean;
  /** Why it cannot be started, in one sentence; absent: it can. */
  readonly unusable?: string;
  readonly color?: string;
  readonly origin: AgentOrigin;
  /** Fields that are not understood, kept as they stood. */
  readonly extra: JsonObject;
  readonly problems: readonly AgentProblem[];
}

/** The models that a definition asks for, the most wanted first. */
export function listRequestedModels({
  model,
  models,
}: Pick<AgentDefinition, 'model' | 'models'>): readonly string[] {
  return models ?? (model === undefined ? [] : [model]);
}

/** A definition without what only says where it is from, and how it is chosen and shown. */
export function pickBehavior(agent: AgentDefinition) {
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

/** The word in a list of tools that lets Write write files that do not exist yet, and no others. */
export const NEW_FILES_WORD = 'create_file';

/**
 * The tools that a definition lists, as a list of tools has them: those that it limits as the rules that limit
 * them, `Bash(git log:*)`.
 */
export function formatToolList({
  tools,
  limitedTools: [first] = [],
}: Pick<AgentDefinition, 'tools' | 'limitedTools'>): readonly string[] {
  return tools.names.flatMap((name) => {
    const limit = first?.limits.find(({ tool }) => tool === name);
    if (limit === undefined) return [name];
    return [...limit.rules, ...(limit.newFiles === true ? [NEW_FILES_WORD] : [])];
  });
}
