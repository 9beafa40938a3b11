import { findIdClashes } from '../../agents/find-agent.ts';
import { AGENTS } from '../../agents/kinds.ts';
import type { DiscoveryResult } from '../../agents/loader/discovery-result.ts';
import { scanSubtree } from '../../agents/loader/subtree-scan.ts';
import { agentFileText } from '../../agents/named-file.ts';
import { findFieldLine, type Finding } from '../../agents/lint/findings.ts';
import { createLoadingFinding, listSkippedFindings } from '../../agents/lint/loading-problems.ts';
import { findUnmetRequests } from '../../engine/prompt/prepare-agent.ts';
import { type AvailableTool, createToolView } from '../../policy/tool-view.ts';
import { attenuate, createRootRights } from '../../policy/attenuate.ts';
import { TOOL_NAMES, UNBUILT_TOOLS } from '../../protocol/tool-names.ts';
import { builtinTools } from '../../tools/index.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import { explainUntrusted } from '../../sys/files/project-file.ts';
import { realDirectory } from '../setup/workspace.ts';
import { chooseAgents } from './choose-agents.ts';
import { loadAgents, type LoadedAgents, type AgentsLocation } from './load-agents.ts';
import { createAgentLinter } from './agent-linter.ts';

export interface CheckAgentsRequest extends AgentsLocation {
  /** Names of agents and absolute paths of files. If there are none, all agents are checked. */
  readonly names: readonly string[];
  /** An absolute directory. All agents below it are checked instead of those that can be used. */
  readonly dir?: string;
}

export interface AgentsCheckReport {
  /** The number of checked agents. */
  readonly agents: number;
  /** All findings, ordered by the discovery of their files and then by line. */
  readonly findings: readonly Finding[];
}

/**
 * Checks agents and their files. Files of a project need not be trusted for it, since nothing in them has an effect.
 * Throws UsageError for an unknown name, directory or configuration.
 */
export async function checkAgents(request: CheckAgentsRequest): Promise<AgentsCheckReport> {
  const here = await loadAgents(request, { reads: 'all' });
  const { dir } = request;
  const found =
    dir === undefined ? here.found : await scanSubtree(AGENTS, realDirectory(dir, '--dir'));
  const chosen = await chooseAgents(request.names, found);
  const linted = await lintAll(chosen.agents, { here, found });
  const left = request.names.length > 0 ? [] : listSkippedFindings(found.skipped, found.problems);
  const findings = [...chosen.problems.map(createLoadingFinding), ...left, ...linted];
  return { agents: chosen.agents.length, findings: byFile(findings) };
}

interface LintPlace {
  readonly here: LoadedAgents;
  readonly found: DiscoveryResult<AgentDefinition>;
}

async function lintAll(
  agents: readonly AgentDefinition[],
  { here, found }: LintPlace,
): Promise<readonly Finding[]> {
  const lint = await createAgentLinter(here);
  const winners = new Map(found.items.map((agent) => [agent.name.toLowerCase(), agent]));
  const losers = new Map(
    found.shadowed.map(({ item }) => [item, winners.get(item.name.toLowerCase())]),
  );
  const shadows = Map.groupBy(losers.keys(), (agent) => losers.get(agent));
  const clashes = findIdClashes(found.items);
  const ofFile = Map.groupBy(agents, ({ origin }) => origin.path);
  const findings: Finding[] = [];
  for (const agent of agents) {
    const { path } = agent.origin;
    const text = agentFileText(path);
    const beside = ofFile.get(path) ?? [];
    // Of several in one file nobody can tell which line is whose.
    const ownText = beside.length > 1 ? null : text;
    findings.push(
      ...(await lint(agent, {
        text: ownText,
        source: beside[0] === agent ? text : null,
        known: [...found.items, ...here.found.items],
        shadowedBy: losers.get(agent) ?? null,
        clash: clashes.get(agent)?.message ?? null,
        shadows: shadows.get(agent) ?? [],
      })),
      ...unmetFindings(agent, { text: ownText, here }),
      ...untrustedFindings(agent, here),
    );
  }
  return findings;
}

/**
 * Returns findings about tools by name that a task of the agent would not get, decided by the code that a spawn uses.
 */
function unmetFindings(
  agent: AgentDefinition,
  { text, here }: { readonly text: string | null; readonly here: LoadedAgents },
): readonly Finding[] {
  const { config, rules } = here.loaded;
  const { mode } = config.permissions;
  const { maxDepth, nested } = config.taskTool;
  const grant = { mode, rules, roots: [here.cwd], network: false, maxDepth };
  const { dropped } = createToolView({
    definition: agent,
    rights: attenuate(createRootRights(grant, null), agent),
    available: toolsToCome(),
    nested,
    root: false,
    // Agents that are not there are reported of by name.
    delegable: true,
  });
  const reported = new Set(agent.problems.map(({ tool }) => tool));
  return findUnmetRequests(agent, dropped)
    .filter(({ kind, name }) => kind === 'rule' || (kind === 'tool' && !reported.has(name)))
    .map(({ kind, name, reason }) => ({
      code: kind === 'rule' ? 'unreadable-rule' : 'unmet-tool',
      // One that Muster is yet to get is no mistake of the file.
      severity: kind === 'rule' ? 'error' : UNBUILT_TOOLS.has(name) ? 'note' : 'warning',
      path: agent.origin.path,
      line: findFieldLine(text, UNMET_FIELDS[kind === 'rule' ? 'rule' : 'tool']) ?? null,
      agent: agent.name,
      message:
        kind === 'rule'
          ? `The rule \`${name}\` cannot be followed: ${reason}`
          : `It asks for ${name} and does not get it: ${reason}`,
      fix:
        kind === 'rule'
          ? 'Correct the rule: until then the agent may do what it was to keep it from.'
          : 'Take it out of the list, or grant what keeps it away. A task of the agent goes without, and says so.',
    }));
}

const UNMET_FIELDS = {
  rule: ['deny-rules', 'ask-rules'],
  tool: ['tools', 'allowed-tools'],
} as const;

/**
 * Returns all tools, including those that the engine and the front ends add to the built-in ones.
 */
function toolsToCome(): readonly AvailableTool[] {
  const known = new Map(builtinTools().map(({ name, kind }) => [name, kind]));
  return TOOL_NAMES.filter((name) => !UNBUILT_TOOLS.has(name)).map((name) => ({
    name,
    kind: known.get(name) ?? 'meta',
  }));
}

function untrustedFindings(
  { name, origin: { path } }: AgentDefinition,
  { untrusted }: LoadedAgents,
): readonly Finding[] {
  const verdict = untrusted.get(path);
  if (verdict === undefined) return [];
  const message = `It does not act here. ${explainUntrusted(verdict)}`;
  return [
    { code: 'untrusted', severity: 'note', path, line: null, agent: name, message, fix: null },
  ];
}

function byFile(findings: readonly Finding[]): readonly Finding[] {
  return [...Map.groupBy(findings, ({ path }) => path).values()].flat();
}
