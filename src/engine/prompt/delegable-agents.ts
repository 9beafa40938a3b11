import {
  findAgent,
  lookUpAgent,
  quoteName,
  validNames,
  type FoundAgent,
} from '../../agents/find-agent.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';

/**
 * The agents that a task of this one may delegate to: those that its definition names, else all. A
 * choice of that agent, like its list of tools, and no right: what it delegates to chooses by its own
 * definition again. Who wants an agent kept out below too writes a deny rule, `Task(NAME)`.
 */
export function delegableAgents(
  agent: Pick<AgentDefinition, 'delegatesTo'>,
  agents: readonly AgentDefinition[],
): readonly AgentDefinition[] {
  if (agent.delegatesTo === undefined) return agents;
  const named = new Set(agent.delegatesTo.map((word) => lookUpAgent(word, agents)));
  return agents.filter((each) => named.has(each));
}

const listed = new WeakMap<readonly AgentDefinition[], readonly AgentDefinition[]>();

/**
 * Of these, whom its model is told of: one that only a person chooses where its definition names it. The
 * same array for the same agents, by which the list that is made of it is known again.
 */
export function offeredAgents(
  agent: Pick<AgentDefinition, 'delegatesTo'>,
  agents: readonly AgentDefinition[],
): readonly AgentDefinition[] {
  if (agent.delegatesTo !== undefined) return delegableAgents(agent, agents);
  const offered = listed.get(agents) ?? agents.filter(({ unlisted }) => unlisted !== true);
  listed.set(agents, offered);
  return offered;
}

/**
 * The agent that a task of this one means by a word, which means the same to everybody: rules are about
 * that agent. INVALID_PARAM names those that it may delegate to.
 */
export function findDelegable(
  word: string,
  by: Pick<AgentDefinition, 'name' | 'delegatesTo'>,
  agents: readonly AgentDefinition[],
): FoundAgent {
  const delegable = delegableAgents(by, agents);
  const agent = lookUpAgent(word, agents);
  if (agent === undefined) return findAgent(word, agents, delegable);
  if (delegable.includes(agent)) return { ok: true, agent };
  const names = validNames(delegable, agents);
  const message = `${quoteName(by.name)} may not delegate to ${quoteName(agent.name)}: its definition names those that it may. Valid: ${names}.`;
  return { ok: false, error: { code: 'INVALID_PARAM', message, retryable: false } };
}
