import { homedir } from 'node:os';
import { AGENTS } from '../../agents/kinds.ts';
import { discoverDefinitions } from '../../agents/loader/discover.ts';
import { findAgent } from '../../agents/find-agent.ts';
import { delegatedMode } from '../../policy/modes.ts';
import { grantFor } from '../../policy/mode-grants.ts';
import type { DiscoveryResult } from '../../agents/loader/discovery-result.ts';
import { UsageError } from '../../base/errors.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import { readEnvironment, type Environment } from '../../sys/env.ts';
import type { ModeGrant, PermissionMode } from '../../protocol/permission.ts';
import type { ProjectTrust, UntrustedVerdict } from '../../sys/files/project-file.ts';
import { loadConfig, type LoadedConfig } from '../../config/load.ts';
import type { FlagValue } from '../../config/text-layer.ts';
import { configuredModes } from '../../trust/mode-grants.ts';
import { openSavedModes } from '../../trust/saved-modes.ts';
import { projectTrust } from '../../trust/project-trust.ts';
import { untrustedSummary } from '../../trust/notice.ts';
import { workspaceRoots } from '../setup/workspace.ts';

export interface AgentsPlace {
  readonly cwd: string;
  readonly trustProject: boolean;
  /** As `--data-dir`: where it is kept what is trusted. */
  readonly dataDir?: string;
  readonly environment?: Environment;
  /** The last layer of the configuration. */
  readonly flags?: readonly FlagValue[];
  /** Told why nothing that was trusted counts, in one line. Default: nobody hears it. */
  readonly onNotice?: (line: string) => void;
}

export interface AgentsHere {
  /** Absolute and real. */
  readonly cwd: string;
  readonly environment: Environment;
  readonly home: string;
  readonly loaded: LoadedConfig;
  readonly found: DiscoveryResult<AgentDefinition>;
  /** The modes that the user grants to agents. */
  readonly modeGrants: readonly ModeGrant[];
  /** Files that were read although nobody has trusted them, by path. */
  readonly untrusted: ReadonlyMap<string, UntrustedVerdict>;
}

/**
 * The agents of a directory, with the configuration that holds there. `reads`: what a project's files
 * need for being read, to look at them; to act, they need be trusted. Throws UsageError for a wrong
 * configuration or directory.
 */
export async function agentsHere(
  place: AgentsPlace,
  { reads }: { readonly reads: 'trusted' | 'all' } = { reads: 'trusted' },
): Promise<AgentsHere> {
  const environment = place.environment ?? readEnvironment();
  const [cwd] = workspaceRoots(place.cwd, []);
  const { dataDir, trustProject: decision, flags = [] } = place;
  const home = environment['HOME'] || homedir();
  const state = { environment, home, cwd, ...(dataDir === undefined ? {} : { dataDir }) };
  const onProblem = place.onNotice ?? (() => {});
  const trust = projectTrust({ ...state, decision, onProblem });
  const loaded = await loadConfig({ environment, home, cwd, trust, flags });
  const untrusted = new Map<string, UntrustedVerdict>();
  const reader = reads === 'all' ? readingAll(trust, untrusted) : trust;
  const found = await discoverDefinitions(AGENTS, { cwd, environment, trust: reader });
  const { grants } = configuredModes(loaded, found.items);
  const modeGrants = [...grants, ...openSavedModes({ ...state, onProblem }).all()];
  return { cwd, environment, home, loaded, found, modeGrants, untrusted };
}

/** Lets all be read, and notes what may not act. */
function readingAll(trust: ProjectTrust, untrusted: Map<string, UntrustedVerdict>): ProjectTrust {
  return {
    judge(file, hash) {
      const verdict = trust.judge(file, hash);
      if (verdict.state !== 'trusted') untrusted.set(file.path, verdict);
      return { state: 'trusted' };
    },
  };
}

/** The agent of this name. Throws UsageError that names the nearest ones. */
export function agentNamed(
  name: string,
  { items, skipped }: Pick<DiscoveryResult<AgentDefinition>, 'items' | 'skipped'>,
): AgentDefinition {
  const found = findAgent(name, items);
  if (found.ok) return found.agent;
  const unused = untrustedSummary({ files: [], skipped });
  throw new UsageError(unused === null ? found.error.message : `${found.error.message}\n${unused}`);
}

/** The mode that an agent gets when the main agent delegates to it. */
export function modeBelowMain(
  agent: AgentDefinition,
  { loaded, modeGrants }: Pick<AgentsHere, 'loaded' | 'modeGrants'>,
): PermissionMode {
  return delegatedMode(agent, loaded.config.permissions.mode, grantFor(agent, modeGrants));
}
