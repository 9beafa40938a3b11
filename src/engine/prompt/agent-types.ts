import { escapeTags } from '../../base/control-tags.ts';
import { collapseWhitespace, truncate } from '../../base/text.ts';
import { estimateTokens } from '../../base/token-estimate.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import { shortened, descriptionFor } from './shown-description.ts';
import { callableNames } from '../../agents/agent-id.ts';
import { builtinsFirst } from '../../agents/find-agent.ts';
import { scoreRelevance } from '../../agents/relevance.ts';

/**
 * Tokens of the whole list, estimated. It stands in every request of the task: 1 % of a window of
 * 200,000, a quarter of the smallest that local models have, and about 70 agents with a line each.
 */
export const LIST_TOKENS = 2_000;
/** Of these, what lines with descriptions may take where not every agent gets one. */
const TOKENS_OF_LINES = 1_400;

/** Code points of a description; the first at which all agents fit is taken. */
const SHORTEST = 80;
const LENGTHS: readonly number[] = [240, 160, 110, SHORTEST];
/** Those that ship with Muster say what they are for in as much. */
const BUILTIN_LENGTH = 160;

export interface TypeListRequest {
  /** In search order. */
  readonly types: readonly AgentDefinition[];
  /** All agents that words of a call are looked up among. */
  readonly all: readonly AgentDefinition[];
  /**
   * What the conversation begins with: where not all types fit, those that fit it best are described.
   * Null for a child, whose list must be that of its siblings: the first in search order then.
   */
  readonly prompt: string | null;
}

const ofChildren = new WeakMap<readonly AgentDefinition[], readonly string[]>();

/**
 * The lines that tell an agent to which types it may delegate, at most `LIST_TOKENS` together: each
 * with what it is for as long as all fit, else the more relevant ones so, others by name, the rest as a
 * number. Each agent that can be started is in exactly one of these. The same for the same arguments.
 */
export function typeList(request: TypeListRequest): readonly string[] {
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

/** An agent, and the word that means it. */
interface Entry {
  readonly agent: AgentDefinition;
  readonly word: string;
}

function line({ agent, word }: Entry, length: number): string {
  const isBuiltin = agent.origin.scope === 'builtin';
  const use = shortened(
    descriptionFor(agent),
    isBuiltin ? Math.max(length, BUILTIN_LENGTH) : length,
  );
  return escapeTags(`- ${word}${use === '' ? '' : `: ${use}`}${toldNeeds(agent)}`);
}

/** Of what a prompt leaves open, so many names, each so long. */
const SHOWN_PARAMETERS = 4;
const SHOWN_PARAMETER = 30;

/** What a task of this type has to say, since its prompt leaves it open; nothing for most. */
function toldNeeds({ parameters = [] }: AgentDefinition): string {
  const needed = parameters.filter((each) => each.default === undefined);
  if (needed.length === 0) return '';
  const names = needed.slice(0, SHOWN_PARAMETERS).map(({ name }) => {
    return truncate(collapseWhitespace(name), SHOWN_PARAMETER);
  });
  return ` [say: ${names.join(', ')}${needed.length > names.length ? ', …' : ''}]`;
}

/** Those that ship with Muster stay where they are: what every prompt may need. */
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

/** As many with a line as fit into their share, as many of the others by name as fit into the rest. */
function partOf(entries: readonly Entry[]): readonly string[] {
  const lines: string[] = [];
  let tokens = 0;
  for (const entry of entries) {
    const next = line(entry, SHORTEST);
    tokens += lineTokens(next);
    if (tokens > TOKENS_OF_LINES) break;
    lines.push(next);
  }
  const left = entries.slice(lines.length).map(({ word }) => word);
  const named = mostThatFit(left.length, (count) => {
    return tokensOf([...lines, restLine(left, count)]) <= LIST_TOKENS;
  });
  return [...lines, restLine(left, named)];
}

const HINT = ' An unknown name, or a word for what you need, is answered with the nearest types.';

/** The rest, so many of them by name. */
function restLine(words: readonly string[], named: number): string {
  const unnamed = words.length - named;
  const others = unnamed === 0 ? '' : `${named === 0 ? '' : ', and '}${unnamed} not named here`;
  const list = escapeTags(words.slice(0, named).join(', '));
  return `- ${words.length} more, any of which may be used: ${list}${others}.${HINT}`;
}

/** The most, from 0 to `count`, for which `fits` holds, found by halves. */
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

/** With its line end. */
function lineTokens(text: string): number {
  return estimateTokens(`${text}\n`);
}
