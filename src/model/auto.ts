import { splitIdentifier } from '../base/word-stems.ts';
import type { AgentDefinition } from '../protocol/agent.ts';
import type { Tier } from '../protocol/model.ts';

/** What `auto` looks at in an agent. */
export type AutoAgent = Pick<AgentDefinition, 'name' | 'description' | 'mode' | 'tools'>;

const LOOKUP_WORDS = new Set(
  (
    'explore explorer search searcher find finder lookup locate locator scout fetch fetcher list grep ' +
    'bash shell runner summary summarize summarizer summarise summariser digest format formatter'
  ).split(' '),
);
const JUDGEMENT_WORDS = new Set(
  (
    'plan planner review reviewer audit auditor architect architecture security debug debugger refactor ' +
    'refactoring migration concurrency threat verifier prover'
  ).split(' '),
);
const HARD_WORK =
  /\b(architect\w*|design|refactor\w*|rewrite|migrat\w+|debug\w*|race condition|deadlock|security|vulnerab\w+|concurren\w+|prove|root cause)\b/i;
/** Characters. */
const LONG_PROMPT = 4000;
const MOST_DESCRIPTION = 1000;
/** What an agent has that changes something, or lets others do so. */
const ACTING_TOOLS = new Set([
  'Write',
  'Edit',
  'MultiEdit',
  'Bash',
  'Task',
  'MoveFile',
  'DeleteFile',
]);

export interface TierChoice {
  readonly tier: Tier;
  /** Ends the sentence "…, since". */
  readonly because: string;
}

/**
 * The rule behind the model `auto`; the first that applies decides:
 * 1. a word of judgement in the agent's name (plan, review, audit, architect, security, debug, …): powerful;
 * 2. a word of looking things up in its name (explore, search, find, summary, bash, …): fast;
 * 3. it only reads, and its description begins with looking things up and names no judgement: fast;
 * 4. the prompt names hard work (design, refactor, debug, security, concurrency, …): powerful;
 * 5. the prompt has 4000 characters or more: powerful;
 * 6. balanced.
 */
export function autoTier(agent: AutoAgent, prompt: string): TierChoice {
  const name = splitIdentifier(agent.name);
  if (name.some((word) => JUDGEMENT_WORDS.has(word))) {
    return { tier: 'powerful', because: `${agent.name} needs judgement` };
  }
  if (name.some((word) => LOOKUP_WORDS.has(word))) {
    return { tier: 'fast', because: `${agent.name} looks things up` };
  }
  if (onlyReads(agent) && isForLookup(agent.description)) {
    return { tier: 'fast', because: `${agent.name} only reads, and is for looking things up` };
  }
  const hard = HARD_WORK.exec(prompt)?.[0];
  if (hard !== undefined) return { tier: 'powerful', because: `the prompt says "${hard}"` };
  if (prompt.length >= LONG_PROMPT) return { tier: 'powerful', because: 'the prompt is long' };
  return { tier: 'balanced', because: 'nothing asks for more or less' };
}

function onlyReads({ mode, tools }: AutoAgent): boolean {
  if (mode === 'plan') return true;
  return (
    tools.mode === 'allow' &&
    !tools.names.some((tool) => ACTING_TOOLS.has(tool) || tool.startsWith('mcp__'))
  );
}

/** By its first sentence, which says what an agent is for; later ones say when, and compare. */
function isForLookup(description: string): boolean {
  const [first = ''] = description.slice(0, MOST_DESCRIPTION).split(/[.\n]/);
  const words = splitIdentifier(first).flatMap((word) => [word, word.replace(/s$/, '')]);
  if (words.some((word) => JUDGEMENT_WORDS.has(word))) return false;
  return words.some((word) => LOOKUP_WORDS.has(word));
}
