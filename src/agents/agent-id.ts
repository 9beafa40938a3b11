import { lazy } from '../base/lazy.ts';
import type { AgentDefinition, AgentProblem } from '../protocol/agent.ts';
import { nameFromPath } from './fields/read-agent.ts';

/** Matches ASCII names that can be typed as a single word in a prompt, a flag or a tool call. */
const TYPEABLE_ASCII = /^\w[\w.:-]*$/;
/** Matches all names that can be typed as a single word. */
const TYPEABLE = lazy(() => /^[\p{L}\p{N}_][\p{L}\p{N}_.:-]*$/u);

/**
 * Returns the id that people and models type for an agent: its name if that is a single word, otherwise the name
 * converted to a single word (`Rust Expert` → `rust-expert`), otherwise the name of its file.
 */
export function agentId({ name, origin }: Pick<AgentDefinition, 'name' | 'origin'>): string {
  if (TYPEABLE_ASCII.test(name) || TYPEABLE().test(name)) return name;
  return toSlug(name) || fileId({ origin }) || 'agent';
}

/**
 * Returns the name of an agent's file as a single word. In some vendors' formats, people call an agent by the name of
 * its file, and its `name` is only for display.
 */
export function fileId({ origin }: Pick<AgentDefinition, 'origin'>): string {
  return toSlug(nameFromPath(origin.path));
}

function toSlug(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_.:]+/gu, '-')
    .replaceAll(/^[^\p{L}\p{N}_]+|[-.:]+$/gu, '');
}

type CallableNames = ReadonlyMap<AgentDefinition, string>;

const callableNamesByList = new WeakMap<AgentList, CallableNames>();

/**
 * Returns the name by which each of the agents can be called: its id, or its full name if the id means another agent.
 * `findAgent` finds each agent by this name.
 */
export function callableNames(agents: AgentList): CallableNames {
  const known = callableNamesByList.get(agents);
  if (known !== undefined) return known;
  const holders = indexIds(agents);
  const names = new Map(
    agents.map((agent) => {
      const id = agentId(agent);
      return [agent, holders.get(id.toLowerCase()) === agent ? id : agent.name];
    }),
  );
  callableNamesByList.set(agents, names);
  return names;
}

/** Returns a warning for each agent whose id means another agent. */
export function findIdClashes(agents: AgentList): ReadonlyMap<AgentDefinition, AgentProblem> {
  const holders = indexIds(agents);
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

/**
 * Returns the agent for each id (in lower case): the agent with this name, or otherwise the first agent with this id.
 */
function indexIds(agents: AgentList): ReadonlyMap<string, AgentDefinition> {
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

/** The agents that are searched, in order of precedence. */
export type AgentList = readonly AgentDefinition[];
