import type { AgentDefinition } from '../agent.ts';
import type { Effort } from '../model.ts';

/** Returns a definition with another effort; null for that of the model, and undefined for that of the definition. */
export function withEffort(
  agent: AgentDefinition,
  effort: Effort | null | undefined,
): AgentDefinition {
  if (effort === undefined || effort === (agent.effort ?? null)) return agent;
  const { effort: _, ...rest } = agent;
  return effort === null ? rest : { ...rest, effort };
}
