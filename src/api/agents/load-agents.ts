import { AGENTS } from '../../agents/kinds.ts';
import { discoverDefinitions } from '../../agents/loader/discover.ts';
import { findAgent } from '../../agents/find-agent.ts';
import { delegatedMode } from '../../policy/modes.ts';
import { findModeGrant } from '../../policy/mode-grants.ts';
import type { DiscoveryResult } from '../../agents/loader/discovery-result.ts';
import { UsageError } from '../../base/errors.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import { homeDirectory, readEnvironment, type Environment } from '../../sys/env.ts';
import type { ModeGrant, PermissionMode } from '../../protocol/permission.ts';
import type { ProjectTrust, UntrustedVerdict } from '../../sys/files/project-file.ts';
import { loadConfig, type LoadedConfig } from '../../config/load.ts';
import type { FlagValue } from '../../config/text-layer.ts';
import { readConfiguredModes } from '../../trust/mode-grants.ts';
import { openSavedModes } from '../../trust/saved-modes.ts';
import { createProjectTrust } from '../../trust/project-trust.ts';
import { summarizeUntrusted } from '../../trust/untrusted-notice.ts';
import { workspaceRoots } from '../setup/workspace.ts';

export interface AgentsLocation {
  readonly cwd: string;
  readonly trustProject: boolean;
  /** The value of `--data-dir`. The approvals are kept there. */
  readonly dataDir?: string;
  readonly environment?: Environment;
  /** The last layer of the configuration. */
  readonly flags?: readonly FlagValue[];
  /** Called with one line that says why no approval counts. Default: the line is dropped. */
  readonly onNotice?: (line: string) => void;
}

export interface LoadedAgents {
  /** Absolute and real. */
  readonly cwd: string;
  readonly environment: Environment;
  readonly home: string;
  readonly loaded: LoadedConfig;
  readonly found: DiscoveryResult<AgentDefinition>;
  /** The modes that the user has granted to agents. */
  readonly modeGrants: readonly ModeGrant[];
  /** Files that were read although the user has not trusted them, by path. */
  readonly untrusted: ReadonlyMap<string, UntrustedVerdict>;
}

/** Finds the real directory of a location, its user, and the trust in the project's files. */
export function openLocation(location: Omit<AgentsLocation, 'flags'>) {
  const environment = location.environment ?? readEnvironment();
  const [cwd] = workspaceRoots(location.cwd, []);
  const { dataDir, trustProject: decision, onNotice: onProblem = () => {} } = location;
  const home = homeDirectory(environment);
  const state = {
    environment,
    home,
    cwd,
    ...(dataDir === undefined ? {} : { dataDir }),
    onProblem,
  };
  return { state, cwd, environment, home, trust: createProjectTrust({ ...state, decision }) };
}

/**
 * Loads the agents and the configuration of a directory. Throws UsageError for a wrong configuration or directory.
 *
 * @param options `reads` says which files of a project are read: `trusted` to use the agents, `all` to inspect them
 */
export async function loadAgents(
  location: AgentsLocation,
  { reads }: { readonly reads: 'trusted' | 'all' } = { reads: 'trusted' },
): Promise<LoadedAgents> {
  const { state, cwd, environment, home, trust } = openLocation(location);
  const { flags = [] } = location;
  const loaded = await loadConfig({ environment, home, cwd, trust, flags });
  const untrusted = new Map<string, UntrustedVerdict>();
  const reader = reads === 'all' ? readingAll(trust, untrusted) : trust;
  const found = await discoverDefinitions(AGENTS, { cwd, environment, trust: reader });
  const { grants } = readConfiguredModes(loaded, found.items);
  const modeGrants = [...grants, ...openSavedModes(state).all()];
  return { cwd, environment, home, loaded, found, modeGrants, untrusted };
}

/** Returns a trust that lets all files be read, and records those that are not trusted. */
function readingAll(trust: ProjectTrust, untrusted: Map<string, UntrustedVerdict>): ProjectTrust {
  return {
    judge(file, hash) {
      const verdict = trust.judge(file, hash);
      if (verdict.state !== 'trusted') untrusted.set(file.path, verdict);
      return { state: 'trusted' };
    },
  };
}

/** Returns the agent of a name. Throws UsageError that lists the nearest names. */
export function requireAgent(
  name: string,
  { items, skipped }: Pick<DiscoveryResult<AgentDefinition>, 'items' | 'skipped'>,
): AgentDefinition {
  const found = findAgent(name, items);
  if (found.ok) return found.agent;
  const unused = summarizeUntrusted({ files: [], skipped });
  throw new UsageError(unused === null ? found.error.message : `${found.error.message}\n${unused}`);
}

/** Returns the mode of an agent to which the main agent delegates. */
export function delegatedAgentMode(
  agent: AgentDefinition,
  { loaded, modeGrants }: Pick<LoadedAgents, 'loaded' | 'modeGrants'>,
): PermissionMode {
  return delegatedMode(agent, loaded.config.permissions.mode, findModeGrant(agent, modeGrants));
}
