import { findIdClashes } from '../../agents/agent-id.ts';
import { AGENTS } from '../../agents/kinds.ts';
import type { DiscoveryResult } from '../../agents/loader/discovery-result.ts';
import { scanSubtree } from '../../agents/loader/subtree-scan.ts';
import { agentFileText } from '../../agents/named-file.ts';
import { findFieldLine, type Finding } from '../../agents/lint/findings.ts';
import { createLoadingFinding, listSkippedFindings } from '../../agents/lint/loading-problems.ts';
import { readHooks } from '../../hooks/read-hooks.ts';
import { readHookCondition } from '../../trust/hook-conditions.ts';
import { findUnmetRequests } from '../../engine/prompt/unmet-requests.ts';
import { type AvailableTool, createToolView } from '../../policy/tool-view.ts';
import { nameCovers } from '../../policy/rules/tool-cover.ts';
import { attenuate, createRootRights } from '../../policy/attenuate.ts';
import { TOOL_NAMES } from '../../protocol/tool-names.ts';
import { builtinTools } from '../../tools/index.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { UnmetRequest } from '../../protocol/unmet-request.ts';
import { explainUntrusted } from '../../sys/files/project-file.ts';
import { resolveDirectory } from '../setup/workspace.ts';
import { chooseAgents } from './choose-agents.ts';
import { loadAgents, type LoadedAgents, type AgentsLocation } from './load-agents.ts';
import { createAgentLinter } from './agent-linter.ts';
import { readOwnServers } from '../mcp/definition-servers.ts';
import { findKnownServers, type KnownServer } from '../mcp/known-servers.ts';

export interface CheckAgentsRequest extends AgentsLocation {
  /** Names of agents and absolute paths of files. If the list is empty, all agents are checked. */
  readonly names: readonly string[];
  /** An absolute directory. If it is set, the agents below it are checked instead of the agents that can be used. */
  readonly dir?: string;
}

export interface AgentsCheckReport {
  /** The number of checked agents. */
  readonly agents: number;
  /** All findings, grouped by file. */
  readonly findings: readonly Finding[];
}

/**
 * Checks agents and their files. The files of a project need not be trusted, because a check does not use their
 * content. Throws UsageError for an unknown name, or for a wrong directory or configuration.
 */
export async function checkAgents(request: CheckAgentsRequest): Promise<AgentsCheckReport> {
  const loadedAgents = await loadAgents(request, { reads: 'all' });
  const { dir } = request;
  const discovery =
    dir === undefined
      ? loadedAgents.discovery
      : await scanSubtree(AGENTS, resolveDirectory(dir, '--dir'));
  const chosen = await chooseAgents(request.names, discovery);
  const linted = await lintAll(chosen.agents, { loadedAgents, discovery });
  const loadingFindings =
    request.names.length > 0 ? [] : listSkippedFindings(discovery.skipped, discovery.problems);
  const findings = [...chosen.problems.map(createLoadingFinding), ...loadingFindings, ...linted];
  return { agents: chosen.agents.length, findings: groupByFile(findings) };
}

interface LintScope {
  readonly loadedAgents: LoadedAgents;
  readonly discovery: DiscoveryResult<AgentDefinition>;
}

async function lintAll(
  agents: readonly AgentDefinition[],
  { loadedAgents, discovery }: LintScope,
): Promise<readonly Finding[]> {
  const lint = await createAgentLinter(loadedAgents);
  const servers = await findKnownServers({ ...loadedAgents, agents });
  const winners = new Map(discovery.items.map((agent) => [agent.name.toLowerCase(), agent]));
  const losers = new Map(
    discovery.shadowed.map(({ item }) => [item, winners.get(item.name.toLowerCase())]),
  );
  const shadows = Map.groupBy(losers.keys(), (agent) => losers.get(agent));
  const clashes = findIdClashes(discovery.items);
  const agentsByFile = Map.groupBy(agents, ({ origin }) => origin.path);
  const findings: Finding[] = [];
  for (const agent of agents) {
    const { path } = agent.origin;
    const text = agentFileText(path);
    const fileAgents = agentsByFile.get(path) ?? [];
    // If a file contains several agents, it is unknown which line belongs to which agent.
    const lintedText = fileAgents.length > 1 ? null : text;
    findings.push(
      ...(await lint(agent, {
        text: lintedText,
        secretSource: fileAgents[0] === agent ? text : null,
        delegates: [...discovery.items, ...loadedAgents.discovery.items],
        shadowedBy: losers.get(agent) ?? null,
        clash: clashes.get(agent)?.message ?? null,
        shadows: shadows.get(agent) ?? [],
      })),
      ...findUnmet(agent, {
        text: lintedText,
        loadedAgents,
        servers: servers.ofAgent(agent),
      }),
      ...lintServers(agent, lintedText),
      ...lintHooks(agent, lintedText),
      ...findUntrusted(agent, loadedAgents),
    );
  }
  return findings;
}

/**
 * Finds what the definition asks for and a task of the agent would not get, with the same code that creates a task.
 */
function findUnmet(
  agent: AgentDefinition,
  {
    text,
    loadedAgents,
    servers,
  }: {
    readonly text: string | null;
    readonly loadedAgents: LoadedAgents;
    readonly servers: readonly KnownServer[];
  },
): readonly Finding[] {
  const { config, rules } = loadedAgents.loadedConfig;
  const { mode } = config.permissions;
  const { maxDepth, nested } = config.taskTool;
  const grant = { mode, rules, roots: [loadedAgents.cwd], network: false, maxDepth };
  const { dropped } = createToolView({
    definition: agent,
    rights: attenuate(createRootRights(grant, null), agent),
    available: [...listTaskTools(), ...servers.flatMap((server) => listServerTools(server, agent))],
    servers: servers.map(({ part, problem }) => ({
      part,
      hasKnownTools: true,
      ...(problem === undefined ? {} : { problem }),
    })),
    nested,
    root: false,
    // Missing delegates are reported separately, each by name.
    delegable: true,
  });
  const reported = new Set(agent.problems.map(({ tool }) => tool));
  return findUnmetRequests(agent, { dropped })
    .filter(({ kind, name }) => kind !== 'denial' && !(kind === 'tool' && reported.has(name)))
    .map((request) => {
      const path = agent.origin.path;
      const line = findFieldLine(text, UNMET_FIELDS[request.kind]) ?? null;
      return Object.assign(describeUnmet(request), { path, line, agent: agent.name });
    });
}

/** Says what a definition asks for and its tasks do not get, and what to do about it. */
function describeUnmet({
  kind,
  name,
  reason,
}: UnmetRequest): Pick<Finding, 'code' | 'severity' | 'message' | 'fix'> {
  if (kind === 'rule') {
    return {
      code: 'unreadable-rule',
      severity: 'error',
      message: `The rule \`${name}\` cannot be applied: ${reason}`,
      fix: 'Correct the rule. Until then, the agent may do what the rule should prevent.',
    };
  }
  if (kind === 'isolation') {
    return {
      code: 'unmet-isolation',
      severity: 'warning',
      message: `It requests isolation ${name} but does not get it: ${reason}`,
      fix: 'Remove it, or write an isolation that Muster offers. Until then, tasks of the agent run without it and report this.',
    };
  }
  return {
    code: 'unmet-tool',
    severity: 'warning',
    message: `It requests ${name} but does not get it: ${reason}`,
    fix: 'Remove it from the list, or grant what is missing. Until then, tasks of the agent run without it and report this.',
  };
}

/** Reports the problems of the servers that a definition contains. */
function lintServers(agent: AgentDefinition, text: string | null): readonly Finding[] {
  if (agent.servers === undefined) return [];
  return readOwnServers(agent).problems.map(({ server, field, message, severity }) => ({
    code: 'invalid-server',
    severity,
    path: agent.origin.path,
    line: findFieldLine(text, ['mcp-servers']) ?? null,
    agent: agent.name,
    message: [`\`mcpServers\`: ${server ?? ''}`, field, message]
      .filter((part) => part !== null)
      .join(': '),
    fix: null,
  }));
}

/** Finds what of the hooks of a definition has no effect. */
function lintHooks(agent: AgentDefinition, text: string | null): readonly Finding[] {
  if (agent.hooks === undefined) return [];
  const { path } = agent.origin;
  return readHooks(agent.hooks, { kind: 'agent', where: path }, readHookCondition).problems.map(
    (message) => ({
      code: 'invalid-hook',
      severity: 'warning',
      path,
      line: findFieldLine(text, ['hooks']) ?? null,
      agent: agent.name,
      message: `${message}.`,
      fix: null,
    }),
  );
}

/** Lists the tools of a server. One that was never used may have each tool that the agent requests. */
function listServerTools(
  { part, tools }: KnownServer,
  agent: AgentDefinition,
): readonly AvailableTool[] {
  const requested = agent.tools.mode === 'allow' ? agent.tools.names : [];
  const names = tools ?? requested.filter((name) => nameCovers(`mcp__${part}`, name));
  return names.map((name) => ({ name, kind: 'execute' }));
}

const UNMET_FIELDS = {
  rule: ['deny-rules', 'ask-rules'],
  tool: ['tools', 'allowed-tools'],
  denial: ['disallowed-tools'],
  isolation: ['isolation'],
} as const;

/**
 * Lists all tools that a task can have, including the tools that the engine and the front ends add to the built-in
 * tools.
 */
function listTaskTools(): readonly AvailableTool[] {
  const known = new Map(builtinTools().map(({ name, kind }) => [name, kind]));
  return TOOL_NAMES.map((name) => ({
    name,
    kind: known.get(name) ?? 'meta',
  }));
}

function findUntrusted(
  { name, origin: { path } }: AgentDefinition,
  { untrusted }: LoadedAgents,
): readonly Finding[] {
  const trustVerdict = untrusted.get(path);
  if (trustVerdict === undefined) return [];
  const message = `It has no effect in this project. ${explainUntrusted(trustVerdict)}`;
  return [
    { code: 'untrusted', severity: 'note', path, line: null, agent: name, message, fix: null },
  ];
}

function groupByFile(findings: readonly Finding[]): readonly Finding[] {
  return [...Map.groupBy(findings, ({ path }) => path).values()].flat();
}
