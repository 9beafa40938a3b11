import type { ErrorInfo } from '../base/errors.ts';
import { foldName } from '../base/fold-name.ts';
import { lazy } from '../base/lazy.ts';
import { suggestNames } from '../base/name-suggestions.ts';
import { sanitizeForTerminal } from '../base/terminal-text.ts';
import { truncate } from '../base/text.ts';
import type { AgentDefinition } from '../protocol/agent.ts';
import { scoreRelevance } from './relevance.ts';
import { agentId, fileId, callableNames, type AgentList } from './agent-id.ts';

/** The result of finding an agent by name. */
export type FoundAgent =
  | { readonly ok: true; readonly agent: AgentDefinition }
  | { readonly ok: false; readonly error: ErrorInfo };

/** The maximum number of characters of a name in a message. A model can send a name of any length. */
const MAX_SHOWN_LENGTH = 80;
const MAX_GUESSES = 3;
/**
 * The maximum number of UTF-16 code units of a name that is compared in its folded form. All agents' names are shorter.
 */
const MAX_FOLDED_LENGTH = 500;
/** Matches a path from the working directory, the home directory or the root, which is not the name of an agent. */
const PATH = /^(?:\.{0,2}|~)[/\\]/;
/** The maximum number of names in a message. */
const MAX_NAMES = 40;
/** The maximum total number of UTF-16 code units of the names in a message. */
const MAX_NAMES_LENGTH = 600;

/**
 * Finds an agent by the name that a person, a model or a file uses. Agents are compared by name, then by id, then by
 * alias, and then by file (for an agent whose name is not a single word), always ignoring case. The first match is the
 * result. If there is no match, separators, Unicode forms, invisible characters, quotation marks and a leading `@` are
 * ignored, too, but then only one agent may match. A path never matches a name.
 *
 * The error for an unknown name is INVALID_PARAM. Its message names agents with a similar spelling or purpose, and as
 * many valid names as fit. The error for a name that matches several agents is INVALID_PARAM, too, and its message
 * names these agents. No other agent is ever used instead.
 *
 * @param named the agents that an error message may name. Default: all
 */
export function findAgent(name: string, agents: AgentList, named: AgentList = agents): FoundAgent {
  const matches = findMatches(name, agents);
  const [agent] = matches;
  if (agent !== undefined && matches.length === 1) return { ok: true, agent };
  const error =
    agent === undefined
      ? createUnknownError(name, named, agents)
      : createAmbiguousError(name, matches, agents);
  return { ok: false, error };
}

/**
 * Returns the agent that `findAgent` finds, or undefined if `findAgent` returns an error. This is for callers that do
 * not report the error.
 */
export function lookUpAgent(name: string, agents: AgentList): AgentDefinition | undefined {
  const matches = findMatches(name, agents);
  return matches.length === 1 ? matches[0] : undefined;
}

interface AgentIndex {
  /** The agents by their exact names in lower case. */
  readonly exact: ReadonlyMap<string, AgentDefinition>;
  /**
   * The agents by their folded names: a map for names and ids, a map for aliases, and a map for files, in this order.
   */
  readonly folded: () => readonly AgentsByName[];
}

type AgentsByName = ReadonlyMap<string, ReadonlySet<AgentDefinition>>;

const indexes = new WeakMap<AgentList, AgentIndex>();

/** Returns the agents that a name may mean. If there are several, they match equally well. */
function findMatches(name: string, agents: AgentList): AgentList {
  const index = indexes.get(agents) ?? createIndex(agents);
  indexes.set(agents, index);
  const exact = index.exact.get(name.trim().toLowerCase());
  if (exact !== undefined) return [exact];
  // A longer text cannot be an agent's name, and folding it would take time.
  const clean = name.length > MAX_FOLDED_LENGTH ? '' : cleanName(name);
  const key = PATH.test(clean) ? '' : foldName(clean);
  if (key === '') return [];
  const matches = index
    .folded()
    .map((byName) => byName.get(key))
    .find((each) => each !== undefined);
  return [...(matches ?? [])];
}

/** Matches characters that models put around a name: quotation marks, and the `@` of a mention. */
const SURROUNDING = lazy(() => /^["'`\p{Pi}\p{Pf}]+|["'`\p{Pi}\p{Pf}]+$|^@(?:agent-)?/gu);
/** Matches invisible characters. */
const INVISIBLE = lazy(() => /\p{Default_Ignorable_Code_Point}/gu);

/** Removes invisible characters, quotation marks and the `@` of a mention, and replaces a minus sign by a hyphen. */
function cleanName(name: string): string {
  return name
    .replaceAll(INVISIBLE(), '')
    .trim()
    .replaceAll(SURROUNDING(), '')
    .replaceAll('\u2212', '-');
}

/**
 * Returns all names of the agent that a name means, beginning with the agent's own name. An unknown name is returned
 * unchanged, so that its later use fails.
 */
export function listAgentNames(
  agentName: string,
  agents: AgentList,
): readonly [string, ...string[]] {
  const agent = lookUpAgent(agentName, agents);
  if (agent === undefined) return [agentName];
  const others = [agentId(agent), ...agent.aliases].filter(
    (other) => other !== agent.name && lookUpAgent(other, agents) === agent,
  );
  return [agent.name, ...others];
}

function createIndex(agents: AgentList): AgentIndex {
  const exact = new Map<string, AgentDefinition>();
  const add = (agentName: string, agent: AgentDefinition) => {
    const key = agentName.trim().toLowerCase();
    if (key !== '' && !exact.has(key)) exact.set(key, agent);
  };
  for (const agent of agents) add(agent.name, agent);
  for (const agent of agents) add(agentId(agent), agent);
  for (const listNames of [listAliases, listFileIds]) {
    for (const agent of agents) for (const agentName of listNames(agent)) add(agentName, agent);
  }
  const folded = lazy(() =>
    [listOwnNames, listAliases, listFileIds].map((listNames) =>
      indexFoldedNames(agents, listNames),
    ),
  );
  return { exact, folded };
}

function indexFoldedNames(
  agents: AgentList,
  listNames: (agent: AgentDefinition) => readonly string[],
): AgentsByName {
  const byWord = new Map<string, Set<AgentDefinition>>();
  for (const agent of agents) {
    for (const agentName of listNames(agent)) {
      const key = foldName(agentName);
      byWord.set(key, (byWord.get(key) ?? new Set()).add(agent));
    }
  }
  return byWord;
}

function listOwnNames(agent: AgentDefinition): readonly string[] {
  return [agent.name, agentId(agent)];
}

function listAliases({ aliases }: AgentDefinition): readonly string[] {
  return aliases;
}

/** Returns the file id of an agent whose name is not a single word, in a list. */
function listFileIds(agent: AgentDefinition): readonly string[] {
  return agentId(agent) === agent.name ? [] : [fileId(agent)];
}

function createAmbiguousError(written: string, matches: AgentList, agents: AgentList): ErrorInfo {
  const shownNames = callableNames(agents);
  const shown = matches
    .slice(0, MAX_NAMES)
    .map(
      (agent) =>
        `${quoteName(shownNames.get(agent) ?? agent.name)} (${shortenName(agent.origin.path)})`,
    );
  const message = `${quoteName(written.trim())} matches ${matches.length} agents: ${shown.join(', ')}. Write the exact name of one of them.`;
  return { code: 'INVALID_PARAM', message, retryable: false };
}

function createUnknownError(written: string, named: AgentList, agents: AgentList): ErrorInfo {
  const wanted = truncate(written.trim(), MAX_SHOWN_LENGTH);
  const shownNames = callableNames(agents);
  const guesses = guessAgents(wanted, named).map((agent) =>
    quoteName(shownNames.get(agent) ?? agent.name),
  );
  const guess = guesses.length === 0 ? '' : ` Did you mean ${joinWithOr(guesses)}?`;
  const message = `There is no agent ${quoteName(wanted)}.${guess} Valid: ${formatValidNames(named, agents)}.`;
  return { code: 'INVALID_PARAM', message, retryable: false };
}

/**
 * Returns agents with a similar name. If there are none, returns agents whose descriptions contain words of the name.
 */
function guessAgents(wanted: string, agents: AgentList): AgentList {
  const agentsByName = new Map<string, AgentDefinition>();
  for (const agent of agents) {
    for (const agentName of [agent.name, agentId(agent), ...agent.aliases]) {
      if (!agentsByName.has(agentName)) agentsByName.set(agentName, agent);
    }
  }
  const near = suggestNames(wanted, [...agentsByName.keys()]).flatMap(
    (agentName) => agentsByName.get(agentName) ?? [],
  );
  if (near.length > 0) return [...new Set(near)].slice(0, MAX_GUESSES);
  const scores = scoreRelevance(wanted, agents);
  const fitting = agents
    .map((agent, index) => ({ agent, score: scores[index] ?? 0 }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score);
  return fitting.slice(0, MAX_GUESSES).map(({ agent }) => agent);
}

/**
 * Lists the names of agents, as many as fit into a message. The built-in agents come first.
 *
 * @param some the agents to list
 * @param all all agents, which decide the name by which each agent can be called
 */
export function formatValidNames(some: AgentList, all: AgentList): string {
  const shownNames = callableNames(all);
  const ordered = builtinsFirst(some).map((agent) =>
    shortenName(shownNames.get(agent) ?? agent.name),
  );
  const named: string[] = [];
  let length = 0;
  for (const agentName of ordered.slice(0, MAX_NAMES)) {
    length += agentName.length;
    if (length > MAX_NAMES_LENGTH) break;
    named.push(agentName);
  }
  const remaining = ordered.length - named.length;
  if (remaining === 0) return named.join(', ') || 'none, there are no agents';
  return `${named.join(', ')}, and ${remaining} more (${ordered.length} in all)`;
}

/** Puts the built-in agents first, and keeps the order otherwise. */
export function builtinsFirst(agents: AgentList): AgentList {
  const isBuiltin = ({ origin }: AgentDefinition) => origin.scope === 'builtin';
  return [...agents.filter(isBuiltin), ...agents.filter((agent) => !isBuiltin(agent))];
}

function joinWithOr(shownNames: readonly string[]): string {
  const last = shownNames.at(-1) ?? '';
  return shownNames.length < 2 ? last : `${shownNames.slice(0, -1).join(', ')} or ${last}`;
}

/** Quotes a name for a message. */
export function quoteName(agentName: string): string {
  return `\`${shortenName(agentName)}\``;
}

function shortenName(agentName: string): string {
  return sanitizeForTerminal(truncate(agentName, MAX_SHOWN_LENGTH), 'exact');
}
