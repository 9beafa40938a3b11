import type { AgentDefinition, AgentProblem } from '../protocol/agent.ts';
import { nameFromPath } from './fields/read-agent.ts';
import { lazy } from '../base/lazy.ts';

/** What can be typed as one word, in a prompt, a flag or a tool call. */
const TYPEABLE_ASCII = /^\w[\w.:-]*$/;
const TYPEABLE = lazy(() => /^[\p{L}\p{N}_][\p{L}\p{N}_.:-]*$/u);

/**
 * The word that people and models type for an agent: its name, where that is one word; else its name
 * made into one (`Rust Expert` → `rust-expert`); else its file's.
 */
export function agentId({ name, origin }: Pick<AgentDefinition, 'name' | 'origin'>): string {
  if (TYPEABLE_ASCII.test(name) || TYPEABLE().test(name)) return name;
  return slug(name) || fileWord({ origin }) || 'agent';
}

/** Its file's name as one word: what some vendors call an agent by whose name is for display. */
export function fileWord({ origin }: Pick<AgentDefinition, 'origin'>): string {
  return slug(nameFromPath(origin.path));
}

function slug(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_.:]+/gu, '-')
    .replaceAll(/^[^\p{L}\p{N}_]+|[-.:]+$/gu, '');
}

type AgentWords = ReadonlyMap<AgentDefinition, string>;

const wordsOf = new WeakMap<readonly AgentDefinition[], AgentWords>();

/**
 * What each agent answers to among these: its id, or its whole name where another one answers to that
 * id. Found by `findAgent`, in each case.
 */
export function agentWords(agents: readonly AgentDefinition[]): AgentWords {
  const known = wordsOf.get(agents);
  if (known !== undefined) return known;
  const holders = idHolders(agents);
  const words = new Map(
    agents.map((agent) => {
      const id = agentId(agent);
      return [agent, holders.get(id.toLowerCase()) === agent ? id : agent.name];
    }),
  );
  wordsOf.set(agents, words);
  return words;
}

/** The warning of each agent that another one keeps from answering to its id. */
export function idClashes(
  agents: readonly AgentDefinition[],
): ReadonlyMap<AgentDefinition, AgentProblem> {
  const holders = idHolders(agents);
  const clashes = new Map<AgentDefinition, AgentProblem>();
  for (const agent of agents) {
    const id = agentId(agent);
    const holder = holders.get(id.toLowerCase());
    if (holder === undefined || holder === agent) continue;
    const message = `\`${id}\` means \`${holder.name}\` (${holder.origin.path}), so this one is called by its whole name.`;
    clashes.set(agent, { code: 'id-clash', message, path: agent.origin.path });
  }
  return clashes;
}

/** By id in lower case: the agent of this very name, else the first that has the id. */
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
