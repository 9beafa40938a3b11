import { homedir } from 'node:os';
import { agentsBelow } from '../agents/below.ts';
import { discoverAgents } from '../agents/discover.ts';
import { listAgents, type AgentListings } from '../agents/listing.ts';
import { effectiveMode } from '../policy/modes.ts';
import type { PermissionMode } from '../protocol/permission.ts';
import { readEnvironment, type Environment } from '../sys/env.ts';
import { loadConfig } from './config/load.ts';
import { projectTrust } from './trust/project-trust.ts';
import { realDirectory, workspaceRoots } from './workspace.ts';

export interface ListAgentsOptions {
  readonly cwd: string;
  readonly trustProject: boolean;
  /** As `--data-dir`: where it is kept what is trusted. */
  readonly dataDir?: string;
  readonly environment?: Environment;
  /** Told why nothing that was trusted counts, in one line. Default: nobody hears it. */
  readonly onNotice?: (line: string) => void;
}

/**
 * Every agent that files below a directory hold, of whatever vendor, wherever they lie, with the mode
 * that each would get from a user who grants `mode` (default: `default`). Nothing of it need be trusted: nothing
 * acts. `directory` is absolute; throws UsageError when it cannot be read.
 */
export async function listAgentsBelow(
  directory: string,
  mode: PermissionMode = 'default',
): Promise<AgentListings> {
  const path = realDirectory(directory, '--dir');
  return listAgents(await agentsBelow(path), {
    effectiveMode: (agent) => effectiveMode(agent, mode),
  });
}

/** The agents that could be used in a directory, with what each asks for and what it would get. */
export async function listAgentsIn(options: ListAgentsOptions): Promise<AgentListings> {
  const environment = options.environment ?? readEnvironment();
  const [cwd] = workspaceRoots(options.cwd, []);
  const { dataDir, trustProject: decision } = options;
  const home = environment['HOME'] || homedir();
  const state = { environment, home, cwd, ...(dataDir === undefined ? {} : { dataDir }) };
  const onProblem = options.onNotice ?? (() => {});
  const trust = projectTrust({ ...state, decision, onProblem });
  const { config } = await loadConfig({ environment, home, cwd, trust, flags: [] });
  const found = await discoverAgents({ cwd, environment, trust });
  return listAgents(found, {
    effectiveMode: (agent) => effectiveMode(agent, config.permissions.mode),
  });
}
