import type { AgentDefinition, AgentProblem } from '../protocol/agent.ts';
import { nameFromPath } from './fields/read-agent.ts';
import { lazy } from '../base/lazy.ts';

/** Names that can be typed as a single word in a prompt, a flag or a tool call. */
const TYPEABLE_ASCII = /^\w[\w.:-]*$/;
const TYPEABLE = lazy(() => /^[\p{L}\p{N}_][\p{L}\p{N}_.:-]*$/u);

/**
 * Returns the id that people and models type for an agent: its name if that is a single word, otherwise the name
 * converted to one (`Rust Expert` → `rust-expert`), otherwise the name of its file.
 */
export function agentId({ name, origin }: Pick<AgentDefinition, 'name' | 'origin'>): string {
  if (TYPEABLE_ASCII.test(name) || TYPEABLE().test(name)) return name;
  return slug(name) || fileId({ origin }) || 'agent';
}

/** Returns the name of its file as a single word. Some vendors use it to call an agent whose name is only for display. */
export function fileId({ origin }: Pick<AgentDefinition, 'origin'>): string {
  return slug(nameFromPath(origin.path));
}

function slug(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_.:]+/gu, '-')
    .replaceAll(/^[^\p{L}\p{N}_]+|[-.:]+$/gu, '');
}

type CallableNames = ReadonlyMap<AgentDefinition, string>;

const callableNamesOf = new WeakMap<readonly AgentDefinition[], CallableNames>();

/**
 * Returns the name by which each of these agents can be called: its id, or its full name if another agent has that
 * id. `findAgent` finds the agent by it in any case.
 */
export function callableNames(agents: readonly AgentDefinition[]): CallableNames {
  const known = callableNamesOf.get(agents);
  if (known !== undefined) return known;
  const holders = idHolders(agents);
  const names = new Map(
    agents.map((agent) => {
      const id = agentId(agent);
      return [agent, holders.get(id.toLowerCase()) === agent ? id : agent.name];
    }),
  );
  callableNamesOf.set(agents, names);
  return names;
}

/** Returns a warning for each agent whose id means another agent. */
export function idClashes(
  agents: readonly AgentDefinition[],
): ReadonlyMap<AgentDefinition, AgentProblem> {
  const holders = idHolders(agents);
  const clashes = new Map<AgentDefinition, AgentProblem>();
  for (const agent of agents) {
    const id = agentId(agent);
    const holder = holders.get(id.toLowerCase());
    if (holder === undefined || holder === agent) continue;
    const message = `\`${id}\` means \`${holder.name}\` (${holder.origin.path}), so this agent must be called by its full name.`;
    clashes.set(agent, { code: 'id-clash', message, path: agent.origin.path });
  }
  return clashes;
}

/** Returns the agent for each id in lower case: the one with this name, otherwise the first with this id. */
function idHolders(agents: readonly AgentDefinition[]): ReadonlyMap<string, AgentDefinition> {
  const holders = new Map<string, AgentDefinition>();
  for (const agent of agents) {
    const key = agent.name.toLowerCase();
    if (!holders.has(key)) holders.set(key, agent);
  }
  for (const agent of agents) {
    const key = agentId(agent).toLowerCase();
    if (!holders.has(key)) holders.set(key, agent);
  }
  return holders;
}
