import { formatAcceptance } from '../../protocol/acceptance.ts';
import type { JsonObject } from '../../base/json.ts';
import { createHash } from 'node:crypto';
import { findMissingDelegates, unknownDelegateMessage } from '../../agents/lint/lint-agent.ts';
import { findInactiveFields, type InactiveField } from '../../agents/lint/loading-problems.ts';
import { MusterError } from '../../base/errors.ts';
import { MAIN_AGENT } from '../../engine/task/main-agent.ts';
import { resolveMainModel } from '../../model/selection/resolve-model.ts';
import { ruleCovers } from '../../policy/rules/tool-cover.ts';
import type { DroppedTool } from '../../policy/tool-view.ts';
import type { AgentDefinition, AgentOrigin } from '../../protocol/agent.ts';
import { modelName, type ResolvedModel, type Effort } from '../../protocol/model.ts';
import type { McpServerTools } from '../../protocol/mcp.ts';
import type { MemoryScope } from '../../protocol/memory.ts';
import type {
  CallLimit,
  PermissionMode,
  PermissionRule,
  Rights,
  Verdict,
} from '../../protocol/permission.ts';
import type { TaskLimits } from '../../protocol/task.ts';
import { openSessionParts } from '../session/open-session-parts.ts';
import { measureSystemPrompt, measureTools, type RequestText } from '../../report/request-texts.ts';
import type { SessionOptions } from '../setup/options.ts';
import { createSession } from '../session/session.ts';
import { createRootRights } from '../../policy/attenuate.ts';
import type { PlannedChild } from '../../engine/engine-requests.ts';
import { requireAgent } from '../agents/load-agents.ts';

export interface ExplainRequest extends Pick<
  SessionOptions,
  'cwd' | 'addDirs' | 'dataDir' | 'trustProject' | 'flags' | 'environment' | 'onNotice'
> {
  /** An agent's name or alias. */
  readonly name: string;
}

export interface ExplainedLimit {
  /** The limit, or null if there is none. */
  readonly value: number | null;
  /** The origin of the limit: the definition if it sets the same value as the configuration. */
  readonly from: 'configuration' | 'definition' | null;
}

/**
 * The rights, tools, model and limits that an agent gets when the main agent delegates to it. They are explained even
 * if the call would be refused.
 */
export interface AgentExplanation {
  readonly name: string;
  readonly origin: AgentOrigin;
  readonly call: {
    /** The decision about a Task call for the agent; also `deny` if the agent cannot be started. */
    readonly verdict: Verdict;
    /** The reason for the decision, in one or two sentences. */
    readonly reason: string;
  };
  readonly tools: {
    /** The names of its tools, in the order of a request. */
    readonly names: readonly string[];
    /** The MCP servers from which some of the tools come. */
    readonly servers: readonly ExplainedServer[];
    /** The tools that the agent requests but does not get, with the reasons. */
    readonly dropped: readonly DroppedTool[];
    /** Sentences about requested tools that do not exist. */
    readonly unknown: readonly string[];
  };
  /** The names of the agents to which the agent may delegate. Empty if it has no Task tool. */
  readonly delegatesTo: readonly string[];
  readonly rights: {
    readonly mode: PermissionMode;
    /** The mode that the file requests, in its vendor's terms. */
    readonly asked: string | null;
    readonly parentMode: PermissionMode;
    /** The setting that grants the agent a wider mode than its parent has; null if there is none. */
    readonly grantedBy: string | null;
    readonly refusesQuestions: boolean;
    readonly disallowedTools: readonly string[];
    /** The tools of which only some calls are allowed. All of these limits apply. */
    readonly callLimits: readonly ExplainedCallLimit[];
    readonly rules: Readonly<Record<keyof Rights['rules'], readonly ExplainedRule[]>>;
    readonly roots: readonly string[];
    readonly network: boolean;
    readonly depth: number;
    readonly maxDepth: number;
  };
  readonly model: {
    /** `provider/id`. */
    readonly name: string;
    readonly tier: string | null;
    /** The steps of the choice of the model. The first step is the request. */
    readonly chain: readonly string[];
    readonly warning: string | null;
    /** The models that replace the model if it fails, in this order, as `provider/id`. */
    readonly fallbacks: readonly string[];
    /** The models that take over when the work is not accepted, in this order, as `provider/id`. */
    readonly later: readonly string[];
    /** The reasoning effort, or null for the default of the model. */
    readonly effort: Effort | null;
  };
  /** The conditions under which the work is accepted, as they are written in a file; null if there are none. */
  readonly accept: JsonObject | null;
  /** The limits. An optional limit is only present if it is set. */
  readonly limits: { readonly [Limit in keyof TaskLimits]: ExplainedLimit };
  /** True if a Task call runs the agent in the background unless the call says otherwise. */
  readonly background: boolean;
  /** The setting for the reuse of earlier results of the same work, and its origin. */
  readonly reuse: { readonly on: boolean; readonly from: 'configuration' | 'definition' };
  /** True if only a person can choose the agent, because models do not see it. */
  readonly unlisted: boolean;
  /** The directory of its notes, or null if it keeps no notes or may not read them. */
  readonly memory: { readonly scope: MemoryScope; readonly directory: string } | null;
  readonly context: {
    /** The hash of the system prompt without its last line, which differs for each task. */
    readonly systemSha256: string;
    readonly bytes: number;
    readonly tokens: number;
    readonly sources: readonly RequestText[];
  };
  /** Fields of the file that have no effect. */
  readonly inactive: readonly InactiveField[];
  /** Problems of the file of the agent, and names in the file that do not exist. */
  readonly warnings: readonly string[];
  /** The system prompt without its last line. */
  readonly system: readonly string[];
}

/** The tools that an agent gets from an MCP server. */
export interface ExplainedServer {
  readonly name: string;
  /** The file that configures it. */
  readonly file: string;
  readonly tools: readonly string[];
}

export interface ExplainedCallLimit {
  readonly tool: string;
  /** Each part of a call must be covered by one of these rules. */
  readonly rules: readonly string[];
  /** True if the tool may also write files that do not exist yet. */
  readonly newFiles: boolean;
  /** The file or flag that sets the limit. */
  readonly where: string;
}

export interface ExplainedRule {
  /** The rule as written. */
  readonly rule: string;
  /** The file or flag that contains the rule. */
  readonly where: string;
}

/**
 * Explains the task that a Task call for an agent would create, with the same code that creates it. Creates nothing and
 * asks no model. Throws UsageError for an unknown name or a wrong configuration, and MusterError if delegation is not
 * allowed.
 */
export async function explainAgent({
  name,
  ...options
}: ExplainRequest): Promise<AgentExplanation> {
  const parts = await openSessionParts({
    ...options,
    log: false,
    questions: 'deny',
    mainAgent: name,
  });
  const session = createSession(parts);
  try {
    const { agents, engine, grant, modelSetup: setup } = parts;
    // Files that were skipped were already reported when they were discovered.
    const agent = requireAgent(name, { ...agents.current, skipped: [] });
    const [cwd = ''] = grant.roots;
    const rights = createRootRights(grant, null);
    const model = resolveMainModel(setup, { agent: MAIN_AGENT, prompt: '' });
    const plan = await engine.plan(
      {
        agent: MAIN_AGENT,
        rights,
        model,
        cwd,
        modeGrants: parts.inbox.modeGrants?.listGrants() ?? [],
      },
      { prompt: '', subagentType: agent.name },
    );
    if (plan instanceof MusterError) {
      throw new MusterError(plan.code, plan.message.replace(/^subagent_type: /, ''));
    }
    return createExplanation(plan, {
      parentMode: rights.mode,
      agents: agents.current.items,
      servers: parts.servers.ofAgent(agent).servers,
    });
  } finally {
    await session.close();
  }
}

function createExplanation(
  plan: PlannedChild,
  {
    parentMode,
    agents,
    servers,
  }: {
    readonly parentMode: PermissionMode;
    readonly agents: readonly AgentDefinition[];
    readonly servers: readonly McpServerTools[];
  },
): AgentExplanation {
  const { agent, background, decision, setup, prefix, unusable } = plan;
  const { memory } = setup;
  const sources = [...measureSystemPrompt(prefix), ...measureTools(prefix)];
  const unknown = agent.problems.filter(({ code }) => code === 'unknown-tool');
  return {
    name: agent.name,
    origin: agent.origin,
    call:
      unusable === null
        ? { verdict: decision.verdict, reason: decision.reason }
        : { verdict: 'deny', reason: unusable },
    tools: {
      names: prefix.tools.map((tool) => tool.name),
      servers: explainServers(setup.tools, servers),
      dropped: setup.dropped,
      unknown: unknown.map(({ message }) => message),
    },
    delegatesTo: setup.prompt.types.map((type) => type.name),
    rights: explainRights(plan, parentMode),
    model: explainModel(plan),
    accept: agent.accept === undefined ? null : formatAcceptance(agent.accept),
    limits: explainLimits(plan),
    background,
    reuse: {
      on: plan.reusesResults,
      from: agent.cache === undefined ? 'configuration' : 'definition',
    },
    unlisted: agent.unlisted === true,
    memory:
      memory === null || agent.memory === undefined
        ? null
        : { scope: agent.memory, directory: memory.directory },
    context: {
      systemSha256: createHash('sha256').update(prefix.system.join('\n\n')).digest('hex'),
      bytes: sources.reduce((sum, { bytes }) => sum + bytes, 0),
      tokens: sources.reduce((sum, { tokens }) => sum + tokens, 0),
      sources,
    },
    inactive: findInactiveFields(agent),
    warnings: listWarnings(plan, agents),
    system: prefix.system,
  };
}

function explainServers(
  tools: readonly { readonly name: string }[],
  servers: readonly McpServerTools[],
): readonly ExplainedServer[] {
  const names = new Set(tools.map(({ name }) => name));
  return servers
    .map((server) => ({
      name: server.name,
      file: server.file,
      tools: server.tools.map((tool) => tool.name).filter((name) => names.has(name)),
    }))
    .filter((server) => server.tools.length > 0);
}

/** Codes of problems that other fields of the explanation show. */
const EXPLAINED_CODES: ReadonlySet<string> = new Set([
  'unknown-tool',
  'unknown-denied-tool',
  'no-known-tools',
  'inactive-field',
  'unknown-field',
]);

function listWarnings(
  { agent, setup }: PlannedChild,
  agents: readonly AgentDefinition[],
): readonly string[] {
  return [
    ...agent.problems
      .filter(({ code }) => !EXPLAINED_CODES.has(code))
      .map(({ message }) => message),
    ...setup.preloaded.warnings,
    ...(setup.memory?.warning ? [setup.memory.warning] : []),
    ...findMissingDelegates(agent, agents).map(unknownDelegateMessage),
  ];
}

function explainRights(
  { agent, rights, raisedBy }: PlannedChild,
  parentMode: PermissionMode,
): AgentExplanation['rights'] {
  const { mode, rules, disallowedTools, callLimits = [], roots, network, depth, maxDepth } = rights;
  const explainRules = (list: readonly PermissionRule[]): readonly ExplainedRule[] =>
    list.map(({ text, source }) => ({ rule: text, where: source.where }));
  return {
    mode,
    asked: agent.permissionMode,
    parentMode,
    grantedBy: raisedBy?.grant.source.where ?? null,
    refusesQuestions: rights.refusesQuestions === true,
    disallowedTools,
    callLimits: callLimits.flatMap(explainCallLimit),
    rules: {
      allow: explainRules(rules.allow),
      ask: explainRules(rules.ask),
      deny: explainRules(rules.deny),
    },
    roots,
    network,
    depth,
    maxDepth,
  };
}

function explainCallLimit({ tools, rules, newFiles, where }: CallLimit): ExplainedCallLimit[] {
  return tools.map((tool) => ({
    tool,
    rules: rules.filter((rule) => ruleCovers(rule, tool, 'widen')).map(({ text }) => text),
    newFiles: newFiles.includes(tool),
    where,
  }));
}

function explainModel({
  agent,
  model,
  fallbacks,
  laterModels,
}: PlannedChild): AgentExplanation['model'] {
  const { chain, tier, warning }: ResolvedModel = model;
  return {
    name: modelName(model),
    tier: tier ?? null,
    chain,
    warning: warning ?? null,
    fallbacks: fallbacks.map(modelName),
    later: laterModels.map(modelName),
    effort: agent.effort ?? null,
  };
}

function explainLimits({ agent, limits }: PlannedChild): AgentExplanation['limits'] {
  const { wallSeconds, ...others } = agent.limits;
  const wallMs = wallSeconds === undefined ? undefined : wallSeconds * 1000;
  const definition: Partial<Record<keyof TaskLimits, number | undefined>> = { ...others, wallMs };
  const explained = (Object.keys(limits) as (keyof TaskLimits)[]).map((key) => {
    const value = limits[key] ?? null;
    const from = definition[key] === value ? 'definition' : 'configuration';
    return [key, { value, from: value === null ? null : from }] as const;
  });
  return Object.fromEntries(explained) as AgentExplanation['limits'];
}
