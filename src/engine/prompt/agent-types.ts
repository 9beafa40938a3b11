import { escapeTags } from '../../base/control-tags.ts';
import { collapseWhitespace, truncate } from '../../base/text.ts';
import { estimateTokens } from '../../base/token-estimate.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import { callableNames, builtinsFirst } from '../../agents/find-agent.ts';
import { scoreRelevance } from '../../agents/relevance.ts';
import { shortenDescription, usageDescription } from './usage-description.ts';

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
export interface TypeListRequest {
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

/** The most parameter names that a line shows, and their greatest length. */
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
