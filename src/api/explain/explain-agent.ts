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
import type { MusterOptions } from '../setup/options.ts';
import { createSession } from '../session/session.ts';
import { createRootRights } from '../../policy/attenuate.ts';
import type { PlannedChild } from '../../engine/engine-requests.ts';
import { requireAgent } from '../agents/load-agents.ts';

export interface ExplainRequest extends Pick<
  MusterOptions,
  'cwd' | 'addDirs' | 'dataDir' | 'trustProject' | 'flags' | 'environment' | 'onNotice'
> {
  /** An agent's name or alias. */
  readonly name: string;
}

export interface ExplainedLimit {
  /** The limit, or null if there is none. */
  readonly value: number | null;
  /** The origin of the limit. If both agree, the definition. */
  readonly from: 'configuration' | 'definition' | null;
}

/**
 * The rights, tools, model and limits of an agent to which the main agent delegates, whether or not it may.
 */
export interface AgentExplanation {
  readonly name: string;
  readonly origin: AgentOrigin;
  readonly call: {
    /** The decision about a Task call for it. `deny` also if it cannot be started. */
    readonly verdict: Verdict;
    /** One or two sentences. */
    readonly reason: string;
  };
  readonly tools: {
    /** In request order. */
    readonly names: readonly string[];
    /** The tools that it requests and does not get, with the reasons. */
    readonly dropped: readonly DroppedTool[];
    /** Sentences about requested tools that do not exist. */
    readonly unknown: readonly string[];
  };
  /** Names of the agents to which it may delegate. There are none if it has no Task tool. */
  readonly delegatesTo: readonly string[];
  readonly rights: {
    readonly mode: PermissionMode;
    /** The mode that the file requests, in its vendor's terms. */
    readonly asked: string | null;
    readonly parentMode: PermissionMode;
    /** The setting that grants a mode wider than its parent's; null if there is none. */
    readonly grantedBy: string | null;
    readonly refusesQuestions: boolean;
    readonly disallowedTools: readonly string[];
    /** Tools of which only some calls run. All of these limits apply. */
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
    /** The steps of the choice, the request first. */
    readonly chain: readonly string[];
    readonly warning: string | null;
    /** The models that replace it in turn if it fails, as `provider/id`. */
    readonly fallbacks: readonly string[];
    /** The effort, or null for the model's default. */
    readonly effort: Effort | null;
  };
  /** Optional limits are only present if they are set. */
  readonly limits: { readonly [Limit in keyof TaskLimits]: ExplainedLimit };
  /** True if a call without a choice runs it in the background. */
  readonly background: boolean;
  /** The reuse of earlier results of the same work, and the origin of that setting. */
  readonly reuse: { readonly on: boolean; readonly from: 'configuration' | 'definition' };
  /** True if only a person can choose it, because no model sees it. */
  readonly unlisted: boolean;
  /** The directory of its notes, or null if it keeps none or may not read them. */
  readonly memory: { readonly scope: MemoryScope; readonly directory: string } | null;
  readonly context: {
    /** The hash of the system prompt without its last line, which is particular to one task. */
    readonly systemSha256: string;
    readonly bytes: number;
    readonly tokens: number;
    readonly sources: readonly RequestText[];
  };
  /** Fields that are kept and have no effect. */
  readonly inactive: readonly InactiveField[];
  /** Problems of its file, and names in it that do not exist. */
  readonly warnings: readonly string[];
  /** The system prompt without its last line. */
  readonly system: readonly string[];
}

export interface ExplainedCallLimit {
  readonly tool: string;
  /** Each part of a call must be covered by one of these rules. */
  readonly rules: readonly string[];
  /** True if it may also write files that do not exist yet. */
  readonly newFiles: boolean;
  readonly where: string;
}

export interface ExplainedRule {
  /** The rule as written. */
  readonly rule: string;
  readonly where: string;
}

/**
 * Explains what a Task call for an agent would create, with the code that a run uses. Nothing is created and no model
 * is asked. Throws UsageError for an unknown name or a wrong configuration, and MusterError if nothing may be
 * delegated.
 */
export async function explainAgent({
  name,
  ...options
}: ExplainRequest): Promise<AgentExplanation> {
  const parts = await openSessionParts({ ...options, log: false, questions: 'deny' });
  const session = createSession(parts);
  try {
    const { agents, engine, grant, setup } = parts;
    // That files were not used was told when they were not.
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
        modeGrants: parts.inbox.modeGrants?.inForce() ?? [],
      },
      { prompt: '', subagentType: agent.name },
    );
    if (plan instanceof MusterError) {
      throw new MusterError(plan.code, plan.message.replace(/^subagent_type: /, ''));
    }
    return explanation(plan, { parentMode: rights.mode, agents: agents.current.items });
  } finally {
    await session.close();
  }
}

function explanation(
  plan: PlannedChild,
  {
    parentMode,
    agents,
  }: { readonly parentMode: PermissionMode; readonly agents: readonly AgentDefinition[] },
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
      dropped: setup.dropped,
      unknown: unknown.map(({ message }) => message),
    },
    delegatesTo: setup.prompt.types.map((type) => type.name),
    rights: rightsOf(plan, parentMode),
    model: modelOf(plan),
    limits: limitsOf(plan),
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
    warnings: warningsOf(plan, agents),
    system: prefix.system,
  };
}

/** Codes of problems whose effects the explanation shows elsewhere. */
const TOLD_ELSEWHERE: ReadonlySet<string> = new Set([
  'unknown-tool',
  'unknown-denied-tool',
  'no-known-tools',
  'inactive-field',
  'unknown-field',
]);

function warningsOf(
  { agent, setup }: PlannedChild,
  agents: readonly AgentDefinition[],
): readonly string[] {
  return [
    ...agent.problems.filter(({ code }) => !TOLD_ELSEWHERE.has(code)).map(({ message }) => message),
    ...setup.preloaded.warnings,
    ...(setup.memory?.warning ? [setup.memory.warning] : []),
    ...findMissingDelegates(agent, agents).map(unknownDelegateMessage),
  ];
}

function rightsOf(
  { agent, rights, raisedBy }: PlannedChild,
  parentMode: PermissionMode,
): AgentExplanation['rights'] {
  const { mode, rules, disallowedTools, callLimits = [], roots, network, depth, maxDepth } = rights;
  const explained = (list: readonly PermissionRule[]): readonly ExplainedRule[] =>
    list.map(({ text, source }) => ({ rule: text, where: source.where }));
  return {
    mode,
    asked: agent.permissionMode,
    parentMode,
    grantedBy: raisedBy?.grant.source.where ?? null,
    refusesQuestions: rights.refusesQuestions === true,
    disallowedTools,
    callLimits: callLimits.flatMap(explainedLimits),
    rules: {
      allow: explained(rules.allow),
      ask: explained(rules.ask),
      deny: explained(rules.deny),
    },
    roots,
    network,
    depth,
    maxDepth,
  };
}

function explainedLimits({ tools, rules, newFiles, where }: CallLimit): ExplainedCallLimit[] {
  return tools.map((tool) => ({
    tool,
    rules: rules.filter((rule) => ruleCovers(rule, tool, 'widen')).map(({ text }) => text),
    newFiles: newFiles.includes(tool),
    where,
  }));
}

function modelOf({ agent, model, fallbacks }: PlannedChild): AgentExplanation['model'] {
  const { chain, tier, warning }: ResolvedModel = model;
  return {
    name: modelName(model),
    tier: tier ?? null,
    chain,
    warning: warning ?? null,
    fallbacks: fallbacks.map(modelName),
    effort: agent.effort ?? null,
  };
}

function limitsOf({ agent, limits }: PlannedChild): AgentExplanation['limits'] {
  const { wallSeconds, ...others } = agent.limits;
  const wallMs = wallSeconds === undefined ? undefined : wallSeconds * 1000;
  const own: Partial<Record<keyof TaskLimits, number | undefined>> = { ...others, wallMs };
  const explained = (Object.keys(limits) as (keyof TaskLimits)[]).map((key) => {
    const value = limits[key] ?? null;
    const from = own[key] === value ? 'definition' : 'configuration';
    return [key, { value, from: value === null ? null : from }] as const;
  });
  return Object.fromEntries(explained) as AgentExplanation['limits'];
}
