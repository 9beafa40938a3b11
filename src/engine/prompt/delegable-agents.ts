import {
  findAgent,
  lookUpAgent,
  quoteName,
  validNames,
  type FoundAgent,
} from '../../agents/find-agent.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';

/**
 * Returns the agents that a task of this agent may delegate to: those that its definition names, else all. This is
 * a choice of the agent and not a right, so its children choose by their own definitions. To exclude an agent from
 * a whole tree, users write a deny rule, `Task(NAME)`.
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
 * Returns the agents that are offered to the model of this agent: unlisted ones only if its definition names them.
 * Returns the same array for the same agents, so that lists made of it can be cached.
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
 * Finds the agent that a task of this agent delegates to by name. A name means the same agent for every task, since
 * rules refer to that agent. The error (`INVALID_PARAM`) lists the agents that it may delegate to.
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
  const message = `${quoteName(by.name)} may not delegate to ${quoteName(agent.name)}: its definition does not list it. Valid: ${names}.`;
  return { ok: false, error: { code: 'INVALID_PARAM', message, retryable: false } };
}
