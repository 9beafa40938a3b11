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
import { stateDirectory } from '../../trust/state-directory.ts';
import { readConfiguredModes } from '../../trust/mode-grants.ts';
import { openSavedModes } from '../../trust/saved-modes.ts';
import { createProjectTrust } from '../../trust/project-trust.ts';
import { summarizeUntrusted } from '../../trust/untrusted-notice.ts';
import type { ActivePlugins } from '../../plugins/active-plugins.ts';
import { loadPlugins } from '../setup/plugins.ts';
import { workspaceRoots } from '../setup/workspace.ts';

/** The directory whose agents are loaded, and the options of loading. */
export interface AgentsLocation {
  readonly cwd: string;
  readonly trustProject: boolean;
  /** The value of `--data-dir`. The data directory contains the user's approvals. */
  readonly dataDir?: string;
  readonly environment?: Environment;
  /** The last layer of the configuration. */
  readonly flags?: readonly FlagValue[];
  /** Called with one line if the approvals cannot be read. Default: the line is dropped. */
  readonly onNotice?: (line: string) => void;
}

export interface LoadedAgents {
  /** Absolute and real. */
  readonly cwd: string;
  /** The trust in files of the project. */
  readonly trust: ProjectTrust;
  readonly environment: Environment;
  readonly home: string;
  /** The state directory; absolute and without links. */
  readonly directory: string;
  readonly loadedConfig: LoadedConfig;
  readonly plugins: ActivePlugins;
  readonly discovery: DiscoveryResult<AgentDefinition>;
  /** The modes that the user has granted to agents. */
  readonly modeGrants: readonly ModeGrant[];
  /** Files that were read although they are not trusted, by path. */
  readonly untrusted: ReadonlyMap<string, UntrustedVerdict>;
}

/** Determines what `openLocation` does, and the plugins whose definitions can be used. */
export async function openDefinitionLocation(location: Omit<AgentsLocation, 'flags'>) {
  const opened = openLocation(location);
  const { definitions: plugins } = await loadPlugins(opened.state);
  return { ...opened, plugins };
}

/** Determines the real directory of a location, the environment, the home directory, and the trust in project files. */
function openLocation(location: Omit<AgentsLocation, 'flags'>) {
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
 * @param options `reads`: which files of the project are read: `trusted` to use the agents, `all` only to inspect them
 */
export async function loadAgents(
  location: AgentsLocation,
  { reads }: { readonly reads: 'trusted' | 'all' } = { reads: 'trusted' },
): Promise<LoadedAgents> {
  const { state, cwd, environment, home, trust } = openLocation(location);
  const { flags = [] } = location;
  const loadedConfig = await loadConfig({ environment, home, cwd, trust, flags });
  const untrusted = new Map<string, UntrustedVerdict>();
  const reader = reads === 'all' ? allowAll(trust, untrusted) : trust;
  const plugins = await loadPlugins(state);
  const discovery = await discoverDefinitions(AGENTS, {
    cwd,
    environment,
    trust: reader,
    plugins: plugins.definitions,
  });
  const { grants } = readConfiguredModes(loadedConfig, discovery.items);
  const modeGrants = [...grants, ...openSavedModes(state).all()];
  const directory = stateDirectory(state);
  return {
    cwd,
    trust,
    environment,
    home,
    directory,
    loadedConfig,
    plugins,
    discovery,
    modeGrants,
    untrusted,
  };
}

/** Returns a trust that allows reading all files, and adds the files that are not trusted to `untrusted`. */
function allowAll(trust: ProjectTrust, untrusted: Map<string, UntrustedVerdict>): ProjectTrust {
  return {
    judge(file, hash) {
      const verdict = trust.judge(file, hash);
      if (verdict.state !== 'trusted') untrusted.set(file.path, verdict);
      return { state: 'trusted' };
    },
  };
}

/** Returns the agent with a name or alias. Throws UsageError with similar names if there is none. */
export function requireAgent(
  name: string,
  { items, skipped }: Pick<DiscoveryResult<AgentDefinition>, 'items' | 'skipped'>,
): AgentDefinition {
  const found = findAgent(name, items);
  if (found.ok) return found.agent;
  const unused = summarizeUntrusted({ files: [], skipped });
  throw new UsageError(unused === null ? found.error.message : `${found.error.message}\n${unused}`);
}

/** Returns the permission mode that an agent gets when the main agent delegates to it. */
export function getDelegatedMode(
  agent: AgentDefinition,
  { loadedConfig, modeGrants }: Pick<LoadedAgents, 'loadedConfig' | 'modeGrants'>,
): PermissionMode {
  const { mode } = loadedConfig.config.permissions;
  return delegatedMode(agent, mode, findModeGrant(agent, modeGrants));
}
