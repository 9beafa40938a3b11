import { escapeTags } from '../../base/control-tags.ts';
import { collapseWhitespace, truncate } from '../../base/text.ts';
import { estimateTokens } from '../../base/token-estimate.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import {
  callableNames,
  builtinsFirst,
  findAgent,
  lookUpAgent,
  quoteName,
  formatValidNames,
  type FoundAgent,
} from '../../agents/find-agent.ts';
import { scoreRelevance } from '../../agents/relevance.ts';
import { lazy } from '../../base/lazy.ts';
import { findMentionedAgents } from '../../agents/mentions.ts';
import { newId } from '../../base/ids.ts';
import type { QuotedItem } from '../../protocol/quoted-item.ts';
import type { TaskInput } from '../../protocol/input.ts';
import type { TaskSpec } from '../../protocol/task.ts';

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
  const names = formatValidNames(delegable, agents);
  const message = `${quoteName(by.name)} may not delegate to ${quoteName(agent.name)}: its definition does not list it. Valid: ${names}.`;
  return { ok: false, error: { code: 'INVALID_PARAM', message, retryable: false } };
}

/**
 * The most estimated tokens of the list, which is part of every request of a task. The limit is 1 % of a context window
 * of 200,000 tokens, a quarter of the smallest one of local models, and enough for about 70 agents.
 */
export const LIST_TOKENS = 2_000;
/** The part of these tokens for lines with descriptions, when not every agent gets one. */
const TOKENS_OF_LINES = 1_400;

/** The lengths of descriptions in code points, of which the first one is used at which all agents fit. */
const SHORTEST = 80;
const LENGTHS: readonly number[] = [240, 160, 110, SHORTEST];
/** The length at which the descriptions of built-in agents are complete. */
const BUILTIN_LENGTH = 160;

/** The agents to list, and the conversation that chooses between them. */
interface TypeListRequest {
  /** The agents that the task may delegate to, in search order. */
  readonly types: readonly AgentDefinition[];
  /** All agents by which the names in a call are resolved. */
  readonly all: readonly AgentDefinition[];
  /**
   * The first prompt of the conversation: when not all types fit, the most relevant ones are described. Null for a
   * child, since siblings share one list: then the first types in search order are described.
   */
  readonly prompt: string | null;
}

const ofChildren = new WeakMap<readonly AgentDefinition[], readonly string[]>();

/**
 * Lists the types to which an agent may delegate, in at most `LIST_TOKENS`. Each type has a line with its use when
 * all fit. Otherwise the more relevant types have one, others are named, and the rest are counted. Deterministic.
 */
export function listAgentTypes(request: TypeListRequest): readonly string[] {
  const { types, prompt } = request;
  const known = prompt === null ? ofChildren.get(types) : undefined;
  if (known !== undefined) return known;
  const list = listOf(request);
  if (prompt === null) ofChildren.set(types, list);
  return list;
}

function listOf({ types, all, prompt }: TypeListRequest): readonly string[] {
  const words = callableNames(all);
  const usable = builtinsFirst(types.filter(({ unusable }) => unusable === undefined));
  const entries = usable.map((agent) => ({
    agent,
    word: collapseWhitespace(words.get(agent) ?? agent.name),
  }));
  for (const length of LENGTHS) {
    const lines = entries.map((entry) => line(entry, length));
    if (tokensOf(lines) <= LIST_TOKENS) return lines;
  }
  return partOf(prompt === null ? entries : mostRelevantFirst(entries, prompt));
}

/** An agent, and the name by which calls choose it. */
interface Entry {
  readonly agent: AgentDefinition;
  readonly word: string;
}

function line({ agent, word }: Entry, length: number): string {
  const isBuiltin = agent.origin.scope === 'builtin';
  const use = shortenDescription(
    usageDescription(agent),
    isBuiltin ? Math.max(length, BUILTIN_LENGTH) : length,
  );
  return escapeTags(`- ${word}${use === '' ? '' : `: ${use}`}${toldNeeds(agent)}`);
}

/** The maximum number of parameter names that a line shows, and their greatest length. */
const SHOWN_PARAMETERS = 4;
const SHOWN_PARAMETER = 30;

/** Names the parameters that a task of this type has to give, since they have no default. */
function toldNeeds({ parameters = [] }: AgentDefinition): string {
  const needed = parameters.filter((each) => each.default === undefined);
  if (needed.length === 0) return '';
  const names = needed.slice(0, SHOWN_PARAMETERS).map(({ name }) => {
    return truncate(collapseWhitespace(name), SHOWN_PARAMETER);
  });
  return ` [say: ${names.join(', ')}${needed.length > names.length ? ', …' : ''}]`;
}

/** Sorts agents by relevance. Built-in agents stay first, since every prompt may need them. */
function mostRelevantFirst(entries: readonly Entry[], prompt: string): readonly Entry[] {
  const isBuiltin = ({ agent }: Entry) => agent.origin.scope === 'builtin';
  const others = entries.filter((entry) => !isBuiltin(entry));
  const scores = scoreRelevance(
    prompt,
    others.map(({ agent }) => agent),
  );
  const ranked = others
    .map((entry, index) => ({ entry, score: scores[index] ?? 0 }))
    .toSorted((a, b) => b.score - a.score);
  return [...entries.filter(isBuiltin), ...ranked.map(({ entry }) => entry)];
}

/** Lists as many agents with a line as fit into their share, and as many others by name as fit into the rest. */
function partOf(entries: readonly Entry[]): readonly string[] {
  const lines: string[] = [];
  let tokens = 0;
  for (const entry of entries) {
    const next = line(entry, SHORTEST);
    tokens += lineTokens(next);
    if (tokens > TOKENS_OF_LINES) break;
    lines.push(next);
  }
  const others = entries.slice(lines.length).map(({ word }) => word);
  const named = mostThatFit(others.length, (count) => {
    return tokensOf([...lines, restLine(others, count)]) <= LIST_TOKENS;
  });
  return [...lines, restLine(others, named)];
}

const HINT = ' An unknown name, or a word for what you need, is answered with the nearest types.';

/** Formats the line about the remaining agents, of which the first `named` are named. */
function restLine(words: readonly string[], named: number): string {
  const unnamed = words.length - named;
  const others = unnamed === 0 ? '' : `${named === 0 ? '' : ', and '}${unnamed} not named here`;
  const list = escapeTags(words.slice(0, named).join(', '));
  return `- ${words.length} more, any of which may be used: ${list}${others}.${HINT}`;
}

/** Returns the greatest number from 0 to `count` for which `fits` holds, by binary search. */
function mostThatFit(count: number, fits: (count: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

function tokensOf(lines: readonly string[]): number {
  return lines.reduce((sum, each) => sum + lineTokens(each), 0);
}

/** Estimates the tokens of a line with its line end. */
function lineTokens(text: string): number {
  return estimateTokens(`${text}\n`);
}

/** The maximum number of UTF-16 units of a description that are processed: some contain long dialogues. */
const MAX_READ = 4_000;

/** Dialogues that show when to choose an agent; one that is not closed goes on to the end. */
const EXAMPLES = /<(examples?|commentary)\b[^>]*>[\s\S]*?(?:<\/\1\s*>|$)/gi;
/** An announcement of examples, with everything after it. */
const ANNOUNCED =
  /(?:^|[\n.;:!?])\s*(?:\W{0,3})(?:usage )?examples?(?: usage| uses?)?\W{0,3}:[\s\S]*$/i;

const OPENINGS: readonly (readonly [RegExp, string])[] = [
  // "Use this security agent proactively when …"; the condition stays.
  [
    /^(?:use|invoke|call|launch|choose) (?:this|the)(?: [\w./-]{1,40}){0,4}? (?:sub-?)?agents?,?(?: proactively| immediately)? (?=(?:when|whenever|if|for|to|after|before)\b)/i,
    '',
  ],
  // "This agent should be used when …"
  [
    /^(?:this|the)(?: [\w./-]{1,40}){0,4}? (?:sub-?)?agent (?:should|must|can|is to|needs to) be (?:used|invoked|called)(?: proactively)? (?=(?:when|whenever|if|for|to|after|before)\b)/i,
    '',
  ],
  [/^when(?:ever)? (?:you|the user|users?) (?:needs?|wants?|has|have) to /i, 'To '],
  [/^when(?:ever)? (?:you|the user|users?) (?:needs? (?:help|assistance) (?:with|in) )/i, 'For '],
  [/^when(?:ever)? (?:you|the user|users?) (?:needs?|wants?) /i, 'For '],
  [/^use when (?:a|the|some) (?:task|job) (?:needs|requires|calls for) /i, 'For '],
];

/** A full stop that ends no sentence. */
const ABBREVIATION = lazy(() => /(?:\b(?:e\.g|i\.e|etc|vs|incl|approx)|\b\p{L})$/iu);
const SENTENCE_END = /[.!?](?=\s)|[。！？]/g;
/** The smallest share of the available length that a cut at a sentence or a word must keep. */
const MIN_SHARE = 0.5;

const cache = new WeakMap<AgentDefinition, string>();

/**
 * Extracts from a description when to use the agent, on one line: without examples, and without the opening words
 * that many descriptions share. Some generators write `\n` for a line end.
 */
export function usageDescription(agent: AgentDefinition): string {
  const known = cache.get(agent);
  if (known !== undefined) return known;
  // Built-in descriptions are shown as written, which saves this work at each start.
  const isBuiltin = agent.origin.scope === 'builtin';
  const use = isBuiltin ? collapseWhitespace(agent.description) : useOf(agent.description);
  cache.set(agent, use);
  return use;
}

function useOf(description: string): string {
  const read = truncate(description, MAX_READ).replaceAll('\\n', '\n');
  const plain = collapseWhitespace(read.replaceAll(EXAMPLES, '\n').replace(ANNOUNCED, '.'));
  const bare = plain.replace(/^\.$/, '').replace(/([.!?])\.$/, '$1');
  const opened = OPENINGS.reduce((text, [opening, by]) => text.replace(opening, by), bare);
  // A description of nothing but examples is kept, since they are better than nothing.
  const use = opened === '' ? collapseWhitespace(read) : opened;
  return use.charAt(0).toUpperCase() + use.slice(1);
}

/** Shortens a text to at most `most` code points, at the end of a sentence if enough remains, else of a word. */
export function shortenDescription(text: string, most: number): string {
  const fitting = truncate(text, most);
  if (fitting.length === text.length) return text;
  const least = fitting.length * MIN_SHARE;
  const sentence = lastSentenceEnd(fitting);
  if (sentence > least) return fitting.slice(0, sentence);
  const blank = fitting.lastIndexOf(' ');
  const cut = blank > least ? fitting.slice(0, blank) : truncate(text, most - 1);
  return `${cut.trimEnd()}…`;
}

/** Returns the position after the last complete sentence; 0 when there is none. */
function lastSentenceEnd(text: string): number {
  let end = 0;
  for (const match of text.matchAll(SENTENCE_END)) {
    if (
      match[0] !== '.' ||
      !ABBREVIATION().test(text.slice(Math.max(0, match.index - 8), match.index))
    ) {
      end = match.index + match[0].length;
    }
  }
  return end;
}

/** The agents that a message mentions as @name. */
interface Mentions {
  /** The agents that the next answer is to call. */
  readonly mentions?: readonly string[];
  /** Warnings about mentions that are taken as text. */
  readonly warnings: readonly string[];
}

/**
 * The maximum number of agents that are called for one message: the default number of tasks that work at the same
 * time.
 */
export const MAX_MENTIONS = 16;

/**
 * Finds the agents that a message mentions and that its reader can call. A task without the Task tool calls none.
 *
 * @param types all agents that can be chosen by name
 * @param by the task that reads the message
 */
export function resolveMentions(
  words: string,
  types: readonly AgentDefinition[],
  by: Pick<TaskSpec, 'agent' | 'tools'>,
): Mentions {
  const mentioned = findMentionedAgents(words, types);
  if (mentioned.length === 0) return { warnings: [] };
  const known = callableNames(types);
  const named = (some: readonly AgentDefinition[]) =>
    some.map((agent) => known.get(agent) ?? agent.name);
  if (!by.tools.includes('Task')) {
    const because = "whoever reads it has no Task tool and can't delegate";
    return { warnings: takenAsText(named(mentioned), because) };
  }
  const delegable = new Set(delegableAgents(by.agent, types));
  const callable = named(mentioned.filter((agent) => delegable.has(agent)));
  const others = named(mentioned.filter((agent) => !delegable.has(agent)));
  return {
    ...(callable.length === 0 ? {} : { mentions: callable.slice(0, MAX_MENTIONS) }),
    warnings: [
      ...takenAsText(others, `the definition of ${by.agent.name} does not list it`),
      ...takenAsText(
        callable.slice(MAX_MENTIONS),
        `one message calls at most ${MAX_MENTIONS} agents by name`,
      ),
    ],
  };
}

/** The maximum number of names that a warning shows. */
const SHOWN_NAMES = 8;

function takenAsText(names: readonly string[], because: string): readonly string[] {
  if (names.length === 0) return [];
  const shown = names.slice(0, SHOWN_NAMES).map((name) => `@${name}`);
  const more = names.length > shown.length ? ` and ${names.length - shown.length} more` : '';
  return [
    `${shown.join(', ')}${more} ${names.length === 1 ? 'is' : 'are'} taken as text: ${because}`,
  ];
}

/** Creates the input for a person's message to a task, which goes into the task's next request. */
export function createUserMessage(
  text: string,
  { mentions }: Pick<Mentions, 'mentions'>,
  enclosed: readonly QuotedItem[],
): TaskInput {
  const named = mentions === undefined ? {} : { mentions };
  const beside = enclosed.length === 0 ? {} : { enclosed };
  return { id: newId(), kind: 'message', from: 'user', text, ...named, ...beside };
}
