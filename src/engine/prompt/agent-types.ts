import { escapeTags } from '../../base/control-tags.ts';
import { collapseWhitespace, truncate } from '../../base/text.ts';
import { estimateTokens, MAX_TOKENS_PER_CHARACTER } from '../../base/token-estimate.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import {
  builtinsFirst,
  findAgent,
  lookUpAgent,
  quoteName,
  formatValidNames,
  type FoundAgent,
} from '../../agents/find-agent.ts';
import { callableNames } from '../../agents/agent-id.ts';
import { scoreRelevance } from '../../agents/relevance.ts';
import { lazy } from '../../base/lazy.ts';

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
  const named = new Set(agent.delegatesTo.map((name) => lookUpAgent(name, agents)));
  return agents.filter((each) => named.has(each));
}

const listedAgents = new WeakMap<readonly AgentDefinition[], readonly AgentDefinition[]>();

/**
 * Returns the agents that are offered to the model of this agent. Unlisted agents are offered only if the definition
 * of this agent names them. Returns the same array for the same `agents`, so that callers can cache by this array.
 */
export function offeredAgents(
  agent: Pick<AgentDefinition, 'delegatesTo'>,
  agents: readonly AgentDefinition[],
): readonly AgentDefinition[] {
  if (agent.delegatesTo !== undefined) return delegableAgents(agent, agents);
  const offered = listedAgents.get(agents) ?? agents.filter(({ unlisted }) => unlisted !== true);
  listedAgents.set(agents, offered);
  return offered;
}

/**
 * Finds the agent that a task of the agent `by` delegates to by name. A name means the same agent for every task, since
 * permission rules name agents. The error (`INVALID_PARAM`) lists the agents that the task may delegate to.
 */
export function findDelegable(
  name: string,
  by: Pick<AgentDefinition, 'name' | 'delegatesTo'>,
  agents: readonly AgentDefinition[],
): FoundAgent {
  const delegable = delegableAgents(by, agents);
  const agent = lookUpAgent(name, agents);
  if (agent === undefined) return findAgent(name, agents, delegable);
  if (delegable.includes(agent)) return { ok: true, agent };
  const names = formatValidNames(delegable, agents);
  const message = `${quoteName(by.name)} may not delegate to ${quoteName(agent.name)}: its definition does not list it. Valid: ${names}.`;
  return { ok: false, error: { code: 'INVALID_PARAM', message, retryable: false } };
}

/**
 * The maximum number of estimated tokens of the list, which is part of every request of a task. The limit is 1 % of a
 * context window of 200,000 tokens, or a quarter of the smallest window of local models, and suffices for about 70
 * agents.
 */
export const MAX_LIST_TOKENS = 2_000;
/** The maximum number of these tokens for lines with descriptions, if not every agent gets such a line. */
const MAX_DESCRIBED_TOKENS = 1_400;

/** The lengths of descriptions in code points. The list uses the first length at which all agents fit. */
const MIN_DESCRIPTION_LENGTH = 80;
const DESCRIPTION_LENGTHS: readonly number[] = [240, 160, 110, MIN_DESCRIPTION_LENGTH];
/** The length at which the descriptions of built-in agents are complete. */
const BUILTIN_LENGTH = 160;

/** The agents to list, and the prompt of the conversation that chooses between them. */
interface TypeListRequest {
  /** The agents that the task may delegate to, in search order. */
  readonly types: readonly AgentDefinition[];
  /** All agents among which the names in a call are looked up. */
  readonly all: readonly AgentDefinition[];
  /**
   * The first prompt of the conversation. If not all types fit, those that are most relevant to this prompt are
   * described. Null for a child, since siblings share one list: then the first types in search order are described.
   */
  readonly prompt: string | null;
}

const listsForChildren = new WeakMap<readonly AgentDefinition[], readonly string[]>();

/**
 * Lists the types to which an agent may delegate, in at most `MAX_LIST_TOKENS`. Each type gets a line with its use if
 * all lines fit. Otherwise only the more relevant types get a line, others are named, and the rest are counted. The
 * same request always gives the same list.
 */
export function listAgentTypes(request: TypeListRequest): readonly string[] {
  const { types, prompt } = request;
  const known = prompt === null ? listsForChildren.get(types) : undefined;
  if (known !== undefined) return known;
  const list = buildList(request);
  if (prompt === null) listsForChildren.set(types, list);
  return list;
}

function buildList({ types, all, prompt }: TypeListRequest): readonly string[] {
  const callNames = callableNames(all);
  const usable = builtinsFirst(types.filter(({ unusable }) => unusable === undefined));
  const entries = usable.map((agent) => ({
    agent,
    callName: collapseWhitespace(callNames.get(agent) ?? agent.name),
  }));
  for (const length of DESCRIPTION_LENGTHS) {
    const lines = entries.map((entry) => formatEntry(entry, length));
    if (fitIntoList(lines)) return lines;
  }
  return buildShortenedList(prompt === null ? entries : mostRelevantFirst(entries, prompt));
}

/** An agent, and the name by which Task calls choose the agent. */
interface Entry {
  readonly agent: AgentDefinition;
  readonly callName: string;
}

function formatEntry({ agent, callName }: Entry, length: number): string {
  const isBuiltin = agent.origin.scope === 'builtin';
  const use = shortenDescription(
    usageDescription(agent),
    isBuiltin ? Math.max(length, BUILTIN_LENGTH) : length,
  );
  return escapeTags(`- ${callName}${use === '' ? '' : `: ${use}`}${formatRequired(agent)}`);
}

/** The maximum number of parameter names that a line shows, and their maximum length in code points. */
const MAX_PARAMETERS = 4;
const MAX_PARAMETER_LENGTH = 30;

/** Names the parameters that a call of this type has to give, since they have no default. */
function formatRequired({ parameters = [] }: AgentDefinition): string {
  const needed = parameters.filter((each) => each.default === undefined);
  if (needed.length === 0) return '';
  const names = needed.slice(0, MAX_PARAMETERS).map(({ name }) => {
    return truncate(collapseWhitespace(name), MAX_PARAMETER_LENGTH);
  });
  return ` [say: ${names.join(', ')}${needed.length > names.length ? ', …' : ''}]`;
}

/** Sorts agents by their relevance to a prompt. Built-in agents stay first, since every prompt may need them. */
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

/**
 * Lists as many agents with a description as fit into `MAX_DESCRIBED_TOKENS`. Names as many of the others as fit into
 * the remaining tokens.
 */
function buildShortenedList(entries: readonly Entry[]): readonly string[] {
  const lines: string[] = [];
  let tokens = 0;
  for (const entry of entries) {
    const next = formatEntry(entry, MIN_DESCRIPTION_LENGTH);
    tokens += estimateLineTokens(next);
    if (tokens > MAX_DESCRIBED_TOKENS) break;
    lines.push(next);
  }
  const others = entries.slice(lines.length).map(({ callName }) => callName);
  const named = findLargestFit(others.length, (count) => {
    return fitIntoList([...lines, formatRemainder(others, count)]);
  });
  return [...lines, formatRemainder(others, named)];
}

const HINT = ' An unknown name, or a word for what you need, is answered with the nearest types.';

/** Formats the line about the remaining agents, of which the first `named` are named. */
function formatRemainder(names: readonly string[], named: number): string {
  const unnamed = names.length - named;
  const others = unnamed === 0 ? '' : `${named === 0 ? '' : ', and '}${unnamed} not named here`;
  const list = escapeTags(names.slice(0, named).join(', '));
  return `- ${names.length} more, any of which may be used: ${list}${others}.${HINT}`;
}

/** Returns the greatest number from 0 to `count` for which `fits` holds, by binary search. */
function findLargestFit(count: number, fits: (count: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Tells whether lines take at most `MAX_LIST_TOKENS`. The length of a short list shows it without an estimate. */
function fitIntoList(lines: readonly string[]): boolean {
  const length = lines.reduce((sum, each) => sum + each.length + 1, 0);
  if (length * MAX_TOKENS_PER_CHARACTER <= MAX_LIST_TOKENS) return true;
  return lines.reduce((sum, each) => sum + estimateLineTokens(each), 0) <= MAX_LIST_TOKENS;
}

/** Estimates the tokens of a line, including its line end. */
function estimateLineTokens(text: string): number {
  return estimateTokens(`${text}\n`);
}

/** The maximum number of UTF-16 units of a description that are processed: some descriptions contain long dialogues. */
const MAX_PROCESSED_LENGTH = 4_000;

/** Dialogues that show when to choose an agent. A dialogue without a closing tag extends to the end. */
const EXAMPLES = /<(examples?|commentary)\b[^>]*>[\s\S]*?(?:<\/\1\s*>|$)/gi;
/** A heading of examples such as `Examples:`, with everything after it. */
const ANNOUNCED =
  /(?:^|[\n.;:!?])\s*(?:\W{0,3})(?:usage )?examples?(?: usage| uses?)?\W{0,3}:[\s\S]*$/i;

/** The opening words that many descriptions share, and the words that replace them. */
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
/** The minimum share of the available length that a cut at the end of a sentence or a word must keep. */
const MIN_KEPT_SHARE = 0.5;

const knownUses = new WeakMap<AgentDefinition, string>();

/** Extracts from a description when to use the agent: one line, without examples and without shared opening words. */
export function usageDescription(agent: AgentDefinition): string {
  const known = knownUses.get(agent);
  if (known !== undefined) return known;
  // Built-in descriptions are shown as written, which saves this work at each start.
  const isBuiltin = agent.origin.scope === 'builtin';
  const use = isBuiltin ? collapseWhitespace(agent.description) : extractUse(agent.description);
  knownUses.set(agent, use);
  return use;
}

function extractUse(description: string): string {
  // Some generators write a backslash and an `n` for a line end.
  const read = truncate(description, MAX_PROCESSED_LENGTH).replaceAll('\\n', '\n');
  const plain = collapseWhitespace(read.replaceAll(EXAMPLES, '\n').replace(ANNOUNCED, '.'));
  const bare = plain.replace(/^\.$/, '').replace(/([.!?])\.$/, '$1');
  const opened = OPENINGS.reduce((text, [opening, by]) => text.replace(opening, by), bare);
  // A description that consists only of examples is kept, since examples are better than nothing.
  const use = opened === '' ? collapseWhitespace(read) : opened;
  return use.charAt(0).toUpperCase() + use.slice(1);
}

/**
 * Shortens a text to at most `maxLength` code points. Cuts at the end of a sentence if at least half of the length
 * remains, and otherwise at the end of a word.
 */
export function shortenDescription(text: string, maxLength: number): string {
  const fitting = truncate(text, maxLength);
  if (fitting.length === text.length) return text;
  const minLength = fitting.length * MIN_KEPT_SHARE;
  const sentence = lastSentenceEnd(fitting);
  if (sentence > minLength) return fitting.slice(0, sentence);
  const blank = fitting.lastIndexOf(' ');
  const cut = blank > minLength ? fitting.slice(0, blank) : truncate(text, maxLength - 1);
  return `${cut.trimEnd()}…`;
}

/** Returns the position after the last complete sentence, or 0 if there is no complete sentence. */
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
