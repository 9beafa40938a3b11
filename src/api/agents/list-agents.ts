import { effectiveMode } from '../../policy/modes.ts';
import type { PermissionMode } from '../../protocol/permission.ts';
import { loadAgents, getDelegatedMode, type AgentsLocation, requireAgent } from './load-agents.ts';
import { resolveDirectory } from '../setup/workspace.ts';
import { listAgents, type AgentListings } from '../../agents/list-agents.ts';
import { scanSubtree } from '../../agents/loader/subtree-scan.ts';
import { AGENTS } from '../../agents/kinds.ts';
import { findInactiveFields, type InactiveField } from '../../agents/lint/loading-problems.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';

export type ListAgentsOptions = AgentsLocation;

/**
 * Lists all agents in files of any vendor below a directory (absolute), with the permission mode that each agent would
 * get if the mode of the session were `mode`. The files need not be trusted, because their content is only listed.
 * Throws UsageError if the directory cannot be read.
 */
export async function listAgentsBelow(
  directory: string,
  mode: PermissionMode = 'default',
): Promise<AgentListings> {
  const path = resolveDirectory(directory, '--dir');
  return listAgents(await scanSubtree(AGENTS, path), {
    effectiveMode: (agent) => effectiveMode(agent, mode),
  });
}

/**
 * Lists the agents that can be used in a directory, with the permission mode that each agent would get.
 */
export async function listAgentsIn(options: ListAgentsOptions): Promise<AgentListings> {
  const loadedAgents = await loadAgents(options);
  return listAgents(loadedAgents.discovery, {
    effectiveMode: (agent) => getDelegatedMode(agent, loadedAgents),
  });
}

/** All details of one definition. */
export interface AgentDetails extends AgentDefinition {
  /** The permission mode that the agent gets when the main agent delegates to it. */
  readonly effectiveMode: PermissionMode;
  /** The paths of agents with the same name that this agent shadows. */
  readonly shadows: readonly string[];
  /** Fields of the file that have no effect. */
  readonly inactive: readonly InactiveField[];
}

/**
 * Returns the details of the agent with a name or alias. Throws UsageError with similar names if there is none.
 */
export async function showAgent(name: string, location: AgentsLocation): Promise<AgentDetails> {
  const loadedAgents = await loadAgents(location);
  const { discovery } = loadedAgents;
  const agent = requireAgent(name, discovery);
  const shadowed = discovery.shadowed.filter(
    (each) => each.item.name.toLowerCase() === agent.name.toLowerCase(),
  );
  return {
    ...agent,
    effectiveMode: getDelegatedMode(agent, loadedAgents),
    shadows: shadowed.map((each) => each.item.origin.path),
    inactive: findInactiveFields(agent),
  };
}
