import type { ErrorInfo } from '../base/errors.ts';
import { foldName } from '../base/fold-name.ts';
import { lazy } from '../base/lazy.ts';
import { suggestNames } from '../base/name-suggestions.ts';
import { sanitizeForTerminal } from '../base/terminal-text.ts';
import { truncate } from '../base/text.ts';
import type { AgentDefinition, AgentProblem } from '../protocol/agent.ts';
import { nameFromPath } from './fields/read-agent.ts';
import { scoreRelevance } from './relevance.ts';

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
function fileId({ origin }: Pick<AgentDefinition, 'origin'>): string {
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

const callableNamesOf = new WeakMap<AgentList, CallableNames>();

/**
 * Returns the name by which each of these agents can be called: its id, or its full name if another agent has that
 * id. `findAgent` finds the agent by it in any case.
 */
export function callableNames(agents: AgentList): CallableNames {
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
export function idClashes(agents: AgentList): ReadonlyMap<AgentDefinition, AgentProblem> {
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
function idHolders(agents: AgentList): ReadonlyMap<string, AgentDefinition> {
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

/** The agents among which one is looked for, in order of precedence. */
export type AgentList = readonly AgentDefinition[];

export type FoundAgent =
  | { readonly ok: true; readonly agent: AgentDefinition }
  | { readonly ok: false; readonly error: ErrorInfo };

/** The maximum number of characters of a name in a message: a model can give one of any length. */
const MAX_SHOWN = 80;
const MAX_GUESSES = 3;
/** The maximum number of UTF-16 units of a name that is compared in its folded form: more than any name has. */
const MAX_FOLDED = 500;
/** Matches a path from the working directory, the home directory or the root, which is not the name of an agent. */
const PATH = /^(?:\.{0,2}|~)[/\\]/;
/** The maximum number of names in a message, and the most UTF-16 units of them. */
const MAX_NAMES = 40;
const MAX_NAMES_LENGTH = 600;

/**
 * Finds an agent by the name that a person, a model or a file uses. The first match decides: by name, by id, by alias,
 * or by file for an agent whose name is not a single word, each with case ignored. After that, separators, Unicode
 * forms, invisible characters, quotation marks and a leading `@` are ignored, too, if only one agent matches. A path
 * is never another form of a name.
 *
 * An unknown name is INVALID_PARAM; the message names similar agents by spelling and by purpose, and as many valid
 * names as fit. A name that matches several agents is INVALID_PARAM, too, and the message names them. No other agent
 * is ever used instead.
 *
 * @param named the agents that an error message may name. Default: all
 */
export function findAgent(name: string, agents: AgentList, named: AgentList = agents): FoundAgent {
  const matches = matchesFor(name, agents);
  const [agent] = matches;
  if (agent !== undefined && matches.length === 1) return { ok: true, agent };
  const error =
    agent === undefined ? unknownAgent(name, named, agents) : ambiguousAgent(name, matches, agents);
  return { ok: false, error };
}

/** Returns the agent that `findAgent` finds, or undefined where that is an error, for callers that do not report it. */
export function lookUpAgent(name: string, agents: AgentList): AgentDefinition | undefined {
  const matches = matchesFor(name, agents);
  return matches.length === 1 ? matches[0] : undefined;
}

interface AgentIndex {
  /** By the exact name, case ignored. */
  readonly exact: ReadonlyMap<string, AgentDefinition>;
  /** By the folded name: a map for names and ids, one for aliases, and one for files, in this order. */
  readonly folded: () => readonly AgentsByName[];
}

type AgentsByName = ReadonlyMap<string, ReadonlySet<AgentDefinition>>;

const indexes = new WeakMap<AgentList, AgentIndex>();

/** Returns the agents that a name may mean. Of several, none matches better than the others. */
function matchesFor(name: string, agents: AgentList): AgentList {
  const index = indexes.get(agents) ?? createIndex(agents);
  indexes.set(agents, index);
  const exact = index.exact.get(name.trim().toLowerCase());
  if (exact !== undefined) return [exact];
  // No agent has a longer folded name, and folding a hostile text takes time.
  const bare = name.length > MAX_FOLDED ? '' : bareName(name);
  const key = PATH.test(bare) ? '' : foldName(bare);
  if (key === '') return [];
  const matches = index
    .folded()
    .map((byName) => byName.get(key))
    .find((each) => each !== undefined);
  return [...(matches ?? [])];
}

/** Characters that models put around a name: quotation marks, and the `@` of a mention. */
const AROUND = lazy(() => /^["'`\p{Pi}\p{Pf}]+|["'`\p{Pi}\p{Pf}]+$|^@(?:agent-)?/gu);
/** Invisible characters. */
const INVISIBLE = lazy(() => /\p{Default_Ignorable_Code_Point}/gu);

/** Removes invisible characters and quotation marks, and makes a minus sign a hyphen. */
function bareName(name: string): string {
  return name.replaceAll(INVISIBLE(), '').trim().replaceAll(AROUND(), '').replaceAll('\u2212', '-');
}

/**
 * Returns all names of the agent that a name means, its own name first. An unknown name is returned as it is, and
 * its later use fails.
 */
export function agentNames(word: string, agents: AgentList): readonly [string, ...string[]] {
  const agent = lookUpAgent(word, agents);
  if (agent === undefined) return [word];
  const others = [agentId(agent), ...agent.aliases].filter(
    (other) => other !== agent.name && lookUpAgent(other, agents) === agent,
  );
  return [agent.name, ...others];
}

function createIndex(agents: AgentList): AgentIndex {
  const exact = new Map<string, AgentDefinition>();
  const add = (word: string, agent: AgentDefinition) => {
    const key = word.trim().toLowerCase();
    if (key !== '' && !exact.has(key)) exact.set(key, agent);
  };
  for (const agent of agents) add(agent.name, agent);
  for (const agent of agents) add(agentId(agent), agent);
  for (const wordsOf of [aliasesOf, filesOf]) {
    for (const agent of agents) for (const word of wordsOf(agent)) add(word, agent);
  }
  const folded = lazy(() =>
    [namesOf, aliasesOf, filesOf].map((wordsOf) => agentsByFoldedWord(agents, wordsOf)),
  );
  return { exact, folded };
}

function agentsByFoldedWord(
  agents: AgentList,
  wordsOf: (agent: AgentDefinition) => readonly string[],
): AgentsByName {
  const byWord = new Map<string, Set<AgentDefinition>>();
  for (const agent of agents) {
    for (const word of wordsOf(agent)) {
      const key = foldName(word);
      byWord.set(key, (byWord.get(key) ?? new Set()).add(agent));
    }
  }
  return byWord;
}

function namesOf(agent: AgentDefinition): readonly string[] {
  return [agent.name, agentId(agent)];
}

function aliasesOf({ aliases }: AgentDefinition): readonly string[] {
  return aliases;
}

/** Returns the file id of an agent whose name is not a single word. */
function filesOf(agent: AgentDefinition): readonly string[] {
  return agentId(agent) === agent.name ? [] : [fileId(agent)];
}

function ambiguousAgent(written: string, matches: AgentList, agents: AgentList): ErrorInfo {
  const words = callableNames(agents);
  const shown = matches
    .slice(0, MAX_NAMES)
    .map((agent) => `${quoteName(words.get(agent) ?? agent.name)} (${plain(agent.origin.path)})`);
  const message = `${quoteName(written.trim())} matches ${matches.length} agents: ${shown.join(', ')}. Write the exact name of one of them.`;
  return { code: 'INVALID_PARAM', message, retryable: false };
}

function unknownAgent(written: string, named: AgentList, agents: AgentList): ErrorInfo {
  const wanted = truncate(written.trim(), MAX_SHOWN);
  const words = callableNames(agents);
  const guesses = guessesFor(wanted, named).map((agent) =>
    quoteName(words.get(agent) ?? agent.name),
  );
  const guess = guesses.length === 0 ? '' : ` Did you mean ${either(guesses)}?`;
  const message = `There is no agent ${quoteName(wanted)}.${guess} Valid: ${validNames(named, agents)}.`;
  return { code: 'INVALID_PARAM', message, retryable: false };
}

/** Returns agents with a similar name. If there are none: agents whose descriptions contain words of the name. */
function guessesFor(wanted: string, agents: AgentList): AgentList {
  const spelt = new Map<string, AgentDefinition>();
  for (const agent of agents) {
    for (const word of [agent.name, agentId(agent), ...agent.aliases]) {
      if (!spelt.has(word)) spelt.set(word, agent);
    }
  }
  const near = suggestNames(wanted, [...spelt.keys()]).flatMap((word) => spelt.get(word) ?? []);
  if (near.length > 0) return [...new Set(near)].slice(0, MAX_GUESSES);
  const scores = scoreRelevance(wanted, agents);
  const fitting = agents
    .map((agent, index) => ({ agent, score: scores[index] ?? 0 }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score);
  return fitting.slice(0, MAX_GUESSES).map(({ agent }) => agent);
}

/** Lists names of agents, as many as fit into a message. Those of the built-in agents come first. */
export function validNames(some: AgentList, all: AgentList): string {
  const words = callableNames(all);
  const ordered = builtinsFirst(some).map((agent) => plain(words.get(agent) ?? agent.name));
  const named: string[] = [];
  let length = 0;
  for (const word of ordered.slice(0, MAX_NAMES)) {
    length += word.length;
    if (length > MAX_NAMES_LENGTH) break;
    named.push(word);
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

function either(words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} or ${last}`;
}

/** Returns a name as messages quote it. */
export function quoteName(word: string): string {
  return `\`${plain(word)}\``;
}

function plain(word: string): string {
  return sanitizeForTerminal(truncate(word, MAX_SHOWN), 'exact');
}
