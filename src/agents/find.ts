import type { ErrorInfo } from '../base/errors.ts';
import { nearNames } from '../base/near-names.ts';
import { terminalText } from '../base/terminal-text.ts';
import { truncate } from '../base/text.ts';
import type { AgentDefinition } from '../protocol/agent.ts';
import { agentId, agentWords, fileWord } from './agent-id.ts';
import { relevance } from './relevance.ts';

export type FoundAgent =
  | { readonly ok: true; readonly agent: AgentDefinition }
  | { readonly ok: false; readonly error: ErrorInfo };

/** A name given by a model can be of any length. */
const MAX_SHOWN = 80;
const MAX_GUESSES = 3;
/** Names, and UTF-16 units of them: more would bury the message. */
const MAX_NAMES = 40;
const MAX_NAMES_LENGTH = 600;

/**
 * The agent of this name, else of this id, else of this alias, else of this file, where its name is no
 * single word; case ignored. Unknown: INVALID_PARAM, naming the nearest by spelling and by what they are for, and the valid ones as far as they fit; never
 * another agent instead.
 *
 * @param named of these, those that the error names. Default: all
 */
export function findAgent(
  name: string,
  agents: readonly AgentDefinition[],
  named: readonly AgentDefinition[] = agents,
): FoundAgent {
  const agent = lookUpAgent(name, agents);
  return agent === undefined
    ? { ok: false, error: unknownAgent(name, named, agents) }
    : { ok: true, agent };
}

const indexes = new WeakMap<readonly AgentDefinition[], ReadonlyMap<string, AgentDefinition>>();

/** As `findAgent`, where an unknown name is nothing to tell of. */
export function lookUpAgent(
  name: string,
  agents: readonly AgentDefinition[],
): AgentDefinition | undefined {
  const index = indexes.get(agents) ?? indexOf(agents);
  indexes.set(agents, index);
  return index.get(name.trim().toLowerCase());
}

/**
 * All that the agent is called by which a word means, its name first. An unknown word stays as it is:
 * what it is used for then fails by itself.
 */
export function agentNames(
  word: string,
  agents: readonly AgentDefinition[],
): readonly [string, ...string[]] {
  const agent = lookUpAgent(word, agents);
  if (agent === undefined) return [word];
  const others = [agentId(agent), ...agent.aliases].filter(
    (other) => other !== agent.name && lookUpAgent(other, agents) === agent,
  );
  return [agent.name, ...others];
}

function indexOf(agents: readonly AgentDefinition[]): ReadonlyMap<string, AgentDefinition> {
  const index = new Map<string, AgentDefinition>();
  const add = (word: string, agent: AgentDefinition) => {
    const key = word.trim().toLowerCase();
    if (!index.has(key)) index.set(key, agent);
  };
  for (const agent of agents) add(agent.name, agent);
  for (const agent of agents) add(agentId(agent), agent);
  for (const agent of agents) for (const alias of agent.aliases) add(alias, agent);
  for (const agent of agents) if (agentId(agent) !== agent.name) add(fileWord(agent), agent);
  return index;
}

function unknownAgent(
  written: string,
  named: readonly AgentDefinition[],
  agents: readonly AgentDefinition[],
): ErrorInfo {
  const wanted = truncate(written.trim(), MAX_SHOWN);
  const words = agentWords(agents);
  const guesses = guessesFor(wanted, named).map((agent) =>
    shownName(words.get(agent) ?? agent.name),
  );
  const guess = guesses.length === 0 ? '' : ` Did you mean ${either(guesses)}?`;
  const message = `There is no agent ${shownName(wanted)}.${guess} Valid: ${validNames(named, agents)}.`;
  return { code: 'INVALID_PARAM', message, retryable: false };
}

/** Those spelt nearly so; where there is none, those that have the words in what they are for. */
function guessesFor(
  wanted: string,
  agents: readonly AgentDefinition[],
): readonly AgentDefinition[] {
  const spelt = new Map<string, AgentDefinition>();
  for (const agent of agents) {
    for (const word of [agent.name, agentId(agent), ...agent.aliases]) {
      if (!spelt.has(word)) spelt.set(word, agent);
    }
  }
  const near = nearNames(wanted, [...spelt.keys()]).flatMap((word) => spelt.get(word) ?? []);
  if (near.length > 0) return [...new Set(near)].slice(0, MAX_GUESSES);
  const scores = relevance(wanted, agents);
  const fitting = agents
    .map((agent, index) => ({ agent, score: scores[index] ?? 0 }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score);
  return fitting.slice(0, MAX_GUESSES).map(({ agent }) => agent);
}

/**
 * What some of all agents answer to, as far as it fits into a message. Those that ship with Muster first:
 * they are there for anybody who knows none of the others.
 */
export function validNames(
  some: readonly AgentDefinition[],
  all: readonly AgentDefinition[],
): string {
  const words = agentWords(all);
  const ordered = builtinFirst(some).map((agent) => plain(words.get(agent) ?? agent.name));
  const named: string[] = [];
  let length = 0;
  for (const word of ordered.slice(0, MAX_NAMES)) {
    length += word.length;
    if (length > MAX_NAMES_LENGTH) break;
    named.push(word);
  }
  const left = ordered.length - named.length;
  if (left === 0) return named.join(', ') || 'none, there are no agents';
  return `${named.join(', ')}, and ${left} more (${ordered.length} in all)`;
}

/** In the order given otherwise. */
export function builtinFirst(agents: readonly AgentDefinition[]): readonly AgentDefinition[] {
  const isBuiltin = ({ origin }: AgentDefinition) => origin.scope === 'builtin';
  return [...agents.filter(isBuiltin), ...agents.filter((agent) => !isBuiltin(agent))];
}

function either(words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} or ${last}`;
}

/** A name as a message quotes it. */
export function shownName(word: string): string {
  return `\`${plain(word)}\``;
}

function plain(word: string): string {
  return terminalText(truncate(word, MAX_SHOWN), 'exact');
}
