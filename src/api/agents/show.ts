import { inactiveFields, type InactiveField } from '../../agents/lint/inactive-fields.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { PermissionMode } from '../../protocol/permission.ts';
import {
  requireAgent,
  loadAgents,
  delegatedAgentMode,
  type AgentsLocation,
} from './load-agents.ts';

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
