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
import { inactiveFields, type InactiveField } from '../../agents/lint/inactive-fields.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';

export type ListAgentsOptions = AgentsLocation;

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
  return listAgents(await scanSubtree(AGENTS, path), {
    effectiveMode: (agent) => effectiveMode(agent, mode),
  });
}

/** The agents that could be used in a directory, with what each asks for and what it would get. */
export async function listAgentsIn(options: ListAgentsOptions): Promise<AgentListings> {
  const here = await loadAgents(options);
  return listAgents(here.found, { effectiveMode: (agent) => delegatedAgentMode(agent, here) });
}

/** Everything about one definition. */
export interface AgentDetails extends AgentDefinition {
  /** What it gets when the main agent delegates to it. */
  readonly effectiveMode: PermissionMode;
  /** Paths of the agents of the same name that it keeps from being used. */
  readonly shadows: readonly string[];
  /** Fields that are kept and do nothing. */
  readonly inactive: readonly InactiveField[];
}

/** The agent that is used under a name or alias. Throws UsageError that names the nearest ones. */
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
    inactive: inactiveFields(agent),
  };
}
