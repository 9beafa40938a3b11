import { homedir } from 'node:os';
import { discoverAgents } from '../agents/discover.ts';
import { listAgents, type AgentListings } from '../agents/listing.ts';
import { effectiveMode } from '../policy/modes.ts';
import { readEnvironment, type Environment } from '../sys/env.ts';
import { loadConfig } from './config/load.ts';
import { workspaceRoots } from './workspace.ts';

export interface ListAgentsOptions {
  readonly cwd: string;
  readonly trustProject: boolean;
  readonly environment?: Environment;
}

/** The agents that could be used in a directory, with what each asks for and what it would get. */
export async function listAgentsIn(options: ListAgentsOptions): Promise<AgentListings> {
  const environment = options.environment ?? readEnvironment();
  const [cwd] = workspaceRoots(options.cwd, []);
  const { trustProject } = options;
  const home = environment['HOME'] || homedir();
  const { config } = await loadConfig({ environment, home, cwd, trustProject, flags: [] });
  const found = await discoverAgents({ cwd, environment, trustedProject: trustProject });
  return listAgents(found, {
    effectiveMode: (agent) => effectiveMode(agent, config.permissions.mode),
  });
}
