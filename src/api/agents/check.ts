import { idClashes } from '../../agents/agent-id.ts';
import { agentFileText } from '../../agents/agent-file.ts';
import { agentsBelow } from '../../agents/below.ts';
import type { DiscoveredAgents } from '../../agents/found.ts';
import type { Finding } from '../../agents/lint/finding.ts';
import { missingDelegates } from '../../agents/lint/delegates.ts';
import { outputSchemaProblem } from './output-schema.ts';
import { lintAgent } from '../../agents/lint/lint-agent.ts';
import { loadingFinding, skippedFindings } from '../../agents/lint/loading.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import { untrustedReason } from '../../sys/project-file.ts';
import { redactFor } from '../secrets.ts';
import { realDirectory } from '../workspace.ts';
import { chooseAgents } from './choose-agents.ts';
import { agentsHere, modeBelowMain, type AgentsHere, type AgentsPlace } from './find-agents.ts';
import { modelOutlooks } from './model-outlook.ts';
import { secretPlaces } from './secret-places.ts';

export interface CheckRequest extends AgentsPlace {
  /** Names of agents, and absolute paths of files. Empty: all there are. */
  readonly names: readonly string[];
  /** Absolute: all below this directory instead of those that can be used. */
  readonly dir?: string;
}

export interface CheckReport {
  /** How many agents were looked at. */
  readonly agents: number;
  /** By file, in the order in which files were found, then by line. */
  readonly findings: readonly Finding[];
}

/**
 * What is wrong, or worth knowing, with agents and their files. Nothing of a project need be trusted for
 * it: nothing acts. Throws UsageError for an unknown name, directory or configuration.
 */
export async function checkAgents(request: CheckRequest): Promise<CheckReport> {
  const here = await agentsHere(request, { reads: 'all' });
  const { dir } = request;
  const found = dir === undefined ? here.found : await agentsBelow(realDirectory(dir, '--dir'));
  const chosen = await chooseAgents(request.names, found);
  const linted = await lintAll(chosen.agents, { here, found });
  const left = request.names.length > 0 ? [] : skippedFindings(found.skipped, found.problems);
  const findings = [...chosen.problems.map(loadingFinding), ...left, ...linted];
  return { agents: chosen.agents.length, findings: byFile(findings) };
}

interface LintPlace {
  readonly here: AgentsHere;
  readonly found: DiscoveredAgents;
}

async function lintAll(
  agents: readonly AgentDefinition[],
  { here, found }: LintPlace,
): Promise<readonly Finding[]> {
  const outlook = await modelOutlooks(here);
  const redact = redactFor(here.environment);
  const parentMode = here.loaded.config.permissions.mode;
  const winners = new Map(found.agents.map((agent) => [agent.name.toLowerCase(), agent]));
  const losers = new Map(
    found.shadowed.map(({ agent }) => [agent, winners.get(agent.name.toLowerCase())]),
  );
  const shadows = Map.groupBy(losers.keys(), (agent) => losers.get(agent));
  const clashes = idClashes(found.agents);
  const ofFile = Map.groupBy(agents, ({ origin }) => origin.path);
  const findings: Finding[] = [];
  for (const agent of agents) {
    const { path } = agent.origin;
    const text = agentFileText(path);
    const beside = ofFile.get(path) ?? [];
    findings.push(
      ...lintAgent(agent, {
        // Of several in one file nobody can tell which line is whose.
        text: beside.length > 1 ? null : text,
        effectiveMode: modeBelowMain(agent, here),
        parentMode,
        model: await outlook(agent),
        secrets:
          text === null || beside[0] !== agent ? [] : secretPlaces(text, agent.extra, redact),
        outputSchemaProblem: await outputSchemaProblem(agent),
        missingDelegates: missingDelegates(agent, [...found.agents, ...here.found.agents]),
        shadowedBy: losers.get(agent) ?? null,
        clash: clashes.get(agent)?.message ?? null,
        shadows: shadows.get(agent) ?? [],
      }),
      ...untrustedFindings(agent, here),
    );
  }
  return findings;
}

function untrustedFindings(
  { name, origin: { path } }: AgentDefinition,
  { untrusted }: AgentsHere,
): readonly Finding[] {
  const verdict = untrusted.get(path);
  if (verdict === undefined) return [];
  const message = `It does not act here. ${untrustedReason(verdict)}`;
  return [
    { code: 'untrusted', severity: 'note', path, line: null, agent: name, message, fix: null },
  ];
}

function byFile(findings: readonly Finding[]): readonly Finding[] {
  return [...Map.groupBy(findings, ({ path }) => path).values()].flat();
}
