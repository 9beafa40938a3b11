import type { ErrorInfo } from '../base/errors.ts';
import { foldName } from '../base/fold-name.ts';
import { lazy } from '../base/lazy.ts';
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
/** UTF-16 units of a word that is compared in its folded form; more than a name can have. */
const MAX_FOLDED = 500;
/** A path from here, from the home directory or from the root, which names no agent. */
const PATH = /^(?:\.{0,2}|~)[/\\]/;
/** Names, and UTF-16 units of them: more would bury the message. */
const MAX_NAMES = 40;
const MAX_NAMES_LENGTH = 600;

/**
 * Finds the agent that a word means, wherever a person, a model or a file names one. The first of these
 * that matches decides: the agent of this name, of this id, of this alias, of this file where its name is
 * no single word, each with case ignored; then the only agent with such a name, id, alias or file when
 * separators, Unicode forms, invisible characters, quotation marks and a leading `@` are ignored, too. A
 * path is no name in another form.
 *
 * An unknown name is INVALID_PARAM, which names the nearest agents by spelling and by purpose, and the
 * valid ones as far as they fit. A word that fits several agents is INVALID_PARAM, which names them. No
 * other agent is ever taken instead.
 *
 * @param named the agents that an error names. Default: all
 */
export function findAgent(
  name: string,
  agents: readonly AgentDefinition[],
  named: readonly AgentDefinition[] = agents,
): FoundAgent {
  const matches = matchesFor(name, agents);
  const [agent] = matches;
  if (agent !== undefined && matches.length === 1) return { ok: true, agent };
  const error =
    agent === undefined ? unknownAgent(name, named, agents) : ambiguousAgent(name, matches, agents);
  return { ok: false, error };
}

/** The agent that `findAgent` finds; undefined where that is an error, for callers that do not report it. */
export function lookUpAgent(
  name: string,
  agents: readonly AgentDefinition[],
): AgentDefinition | undefined {
  const matches = matchesFor(name, agents);
  return matches.length === 1 ? matches[0] : undefined;
}

interface AgentIndex {
  /** By the exact word, case ignored. */
  readonly exact: ReadonlyMap<string, AgentDefinition>;
  /** By the folded word: one map for names and ids, one for aliases, one for files, in that order. */
  readonly folded: () => readonly AgentsByWord[];
}

type AgentsByWord = ReadonlyMap<string, ReadonlySet<AgentDefinition>>;

const indexes = new WeakMap<readonly AgentDefinition[], AgentIndex>();

/** The agents that a word may mean: none, one, or several of which no one fits better. */
function matchesFor(word: string, agents: readonly AgentDefinition[]): readonly AgentDefinition[] {
  const index = indexes.get(agents) ?? indexOf(agents);
  indexes.set(agents, index);
  const exact = index.exact.get(word.trim().toLowerCase());
  if (exact !== undefined) return [exact];
  // A folded name is never longer than this in any agent, and folding a hostile text costs time.
  const bare = word.length > MAX_FOLDED ? '' : bareName(word);
  const key = PATH.test(bare) ? '' : foldName(bare);
  if (key === '') return [];
  const matches = index
    .folded()
    .map((byWord) => byWord.get(key))
    .find((each) => each !== undefined);
  return [...(matches ?? [])];
}

/** Marks that models put around a name: quotation marks, and the `@` of a mention. */
const AROUND = lazy(() => /^["'`\p{Pi}\p{Pf}]+|["'`\p{Pi}\p{Pf}]+$|^@(?:agent-)?/gu);
/** Characters that cannot be seen. */
const INVISIBLE = lazy(() => /\p{Default_Ignorable_Code_Point}/gu);

/** A name without what cannot be seen, without marks around it, and with a minus sign as a hyphen. */
function bareName(word: string): string {
  return word.replaceAll(INVISIBLE(), '').trim().replaceAll(AROUND(), '').replaceAll('\u2212', '-');
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

function indexOf(agents: readonly AgentDefinition[]): AgentIndex {
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
  agents: readonly AgentDefinition[],
  wordsOf: (agent: AgentDefinition) => readonly string[],
): AgentsByWord {
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

/** The word of an agent's file, where its name is no single word. */
function filesOf(agent: AgentDefinition): readonly string[] {
  return agentId(agent) === agent.name ? [] : [fileWord(agent)];
}

function ambiguousAgent(
  written: string,
  matches: readonly AgentDefinition[],
  agents: readonly AgentDefinition[],
): ErrorInfo {
  const words = agentWords(agents);
  const shown = matches
    .slice(0, MAX_NAMES)
    .map((agent) => `${shownName(words.get(agent) ?? agent.name)} (${plain(agent.origin.path)})`);
  const message = `${shownName(written.trim())} fits ${matches.length} agents: ${shown.join(', ')}. Write the exact name of one.`;
  return { code: 'INVALID_PARAM', message, retryable: false };
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
