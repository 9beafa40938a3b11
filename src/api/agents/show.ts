import { inactiveFields, type InactiveField } from '../../agents/lint/inactive-fields.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { PermissionMode } from '../../protocol/permission.ts';
import { agentNamed, agentsHere, modeBelowMain, type AgentsPlace } from './find-agents.ts';

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
export async function showAgent(name: string, place: AgentsPlace): Promise<AgentDetails> {
  const here = await agentsHere(place);
  const { found } = here;
  const agent = agentNamed(name, found);
  const same = found.shadowed.filter(
    (each) => each.item.name.toLowerCase() === agent.name.toLowerCase(),
  );
  return {
    ...agent,
    effectiveMode: modeBelowMain(agent, here),
    shadows: same.map((each) => each.item.origin.path),
    inactive: inactiveFields(agent),
  };
}
