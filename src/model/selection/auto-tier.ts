import { listNames } from '../../base/text.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { Tier } from '../../protocol/model.ts';
import { splitIdentifier } from '../../base/word-stems.ts';

/** The properties of an agent by which `auto` chooses its tier. */
export type AutoAgent = Pick<AgentDefinition, 'name' | 'description' | 'mode' | 'tools'>;

const LOOKUP_WORDS = new Set(
  listNames(`
    explore explorer search searcher find finder lookup locate locator scout fetch fetcher list grep
    bash shell runner summary summarize summarizer summarise summariser digest format formatter
  `),
);
const JUDGEMENT_WORDS = new Set(
  listNames(`
    plan planner review reviewer audit auditor architect architecture security debug debugger
    refactor refactoring migration concurrency threat verifier prover
  `),
);
const HARD_WORK =
  /\b(architect\w*|design|refactor\w*|rewrite|migrat\w+|debug\w*|race condition|deadlock|security|vulnerab\w+|concurren\w+|prove|root cause)\b/i;
/** The minimum number of characters of a long prompt. */
const MIN_LONG_PROMPT_LENGTH = 4000;
/** The maximum number of characters of a description that are read. */
const MAX_DESCRIPTION_LENGTH = 1000;
/** The tools that change something, or that start other agents, which may change something. */
const ACTING_TOOLS = new Set(listNames('Write Edit MultiEdit Bash Task MoveFile DeleteFile'));

/** The tier that `auto` has chosen. */
export interface TierChoice {
  readonly tier: Tier;
  /** The reason as a clause that follows "since". */
  readonly reason: string;
}

/**
 * Chooses the tier for the model `auto`. The first rule that applies decides:
 * 1. The name of the agent contains a word for judgement (plan, review, audit, security, debug, …): powerful.
 * 2. The name of the agent contains a word for looking things up (explore, search, find, summary, bash, …): fast.
 * 3. The agent only reads, and the first sentence of its description contains a word for looking things up and no word
 *    for judgement: fast.
 * 4. The prompt contains a word for hard work (design, refactor, debug, security, concurrency, …): powerful.
 * 5. The prompt has at least 4000 characters: powerful.
 * 6. Otherwise: balanced.
 */
export function chooseAutoTier(agent: AutoAgent, prompt: string): TierChoice {
  const name = splitIdentifier(agent.name);
  if (name.some((word) => JUDGEMENT_WORDS.has(word))) {
    return { tier: 'powerful', reason: `${agent.name} needs judgement` };
  }
  if (name.some((word) => LOOKUP_WORDS.has(word))) {
    return { tier: 'fast', reason: `${agent.name} looks things up` };
  }
  if (isReadOnly(agent) && isForLookup(agent.description)) {
    return { tier: 'fast', reason: `${agent.name} only reads, and is for looking things up` };
  }
  const hardWord = HARD_WORK.exec(prompt)?.[0];
  if (hardWord !== undefined) return { tier: 'powerful', reason: `the prompt says "${hardWord}"` };
  if (prompt.length >= MIN_LONG_PROMPT_LENGTH)
    return { tier: 'powerful', reason: 'the prompt is long' };
  return { tier: 'balanced', reason: 'no rule asks for another tier' };
}

function isReadOnly({ mode, tools }: AutoAgent): boolean {
  if (mode === 'plan') return true;
  return (
    tools.mode === 'allow' &&
    !tools.names.some((tool) => ACTING_TOOLS.has(tool) || tool.startsWith('mcp__'))
  );
}

/** Returns true if the first sentence of a description is about looking things up. Later sentences often name other agents. */
function isForLookup(description: string): boolean {
  const [first = ''] = description.slice(0, MAX_DESCRIPTION_LENGTH).split(/[.\n]/);
  const words = splitIdentifier(first).flatMap((word) => [word, word.replace(/s$/, '')]);
  if (words.some((word) => JUDGEMENT_WORDS.has(word))) return false;
  return words.some((word) => LOOKUP_WORDS.has(word));
}
