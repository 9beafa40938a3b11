import { effectiveMode } from '../../policy/modes.ts';
import type { PermissionMode } from '../../protocol/permission.ts';
import {
  loadAgents,
  delegatedAgentMode,
  type AgentsLocation,
  requireAgent,
} from './load-agents.ts';
import { realDirectory } from '../setup/workspace.ts';
import { listAgents, type AgentListings } from '../../agents/list-agents.ts';
import { scanSubtree } from '../../agents/loader/subtree-scan.ts';
import { AGENTS } from '../../agents/kinds.ts';
import { findInactiveFields, type InactiveField } from '../../agents/lint/loading-problems.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';

export type ListAgentsOptions = AgentsLocation;

/**
 * Lists every agent in files below a directory, of any vendor, with the mode that each would get from a user who
 * grants `mode`. The files need not be trusted, since nothing in them has an effect. `directory` is absolute. Throws
 * UsageError if it cannot be read.
 */
export async function listAgentsBelow(
  directory: string,
  mode: PermissionMode = 'default',
): Promise<AgentListings> {
  const path = realDirectory(directory, '--dir');
  return listAgents(await scanSubtree(AGENTS, path), {
    effectiveMode: (agent) => effectiveMode(agent, mode),
  });
}

/**
 * Lists the agents that can be used in a directory, with what each requests and what it would get.
 */
export async function listAgentsIn(options: ListAgentsOptions): Promise<AgentListings> {
  const here = await loadAgents(options);
  return listAgents(here.found, { effectiveMode: (agent) => delegatedAgentMode(agent, here) });
}

/** All details of one definition. */
export interface AgentDetails extends AgentDefinition {
  /** The mode that it gets when the main agent delegates to it. */
  readonly effectiveMode: PermissionMode;
  /** Paths of agents of the same name that it shadows. */
  readonly shadows: readonly string[];
  /** Fields that are kept and have no effect. */
  readonly inactive: readonly InactiveField[];
}

/**
 * Returns the details of the agent that a name or alias means. Throws UsageError that lists the nearest names.
 */
export async function showAgent(name: string, place: AgentsLocation): Promise<AgentDetails> {
  const here = await loadAgents(place);
  const { found } = here;
  const agent = requireAgent(name, found);
  const same = found.shadowed.filter(
    (each) => each.item.name.toLowerCase() === agent.name.toLowerCase(),
  );
  return {
    ...agent,
    effectiveMode: delegatedAgentMode(agent, here),
    shadows: same.map((each) => each.item.origin.path),
    inactive: findInactiveFields(agent),
  };
}
