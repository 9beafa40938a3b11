import type { Tier } from '../protocol/model.ts';

const LOOKUP_AGENTS: ReadonlySet<string> = new Set(['explore', 'bash', 'summary']);
const THINKING_AGENTS: ReadonlySet<string> = new Set(['plan', 'review']);
const HARD_WORK =
  /\b(architect\w*|design|refactor\w*|rewrite|migrat\w+|debug\w*|race condition|deadlock|security|vulnerab\w+|concurren\w+|prove|root cause)\b/i;
const LONG_PROMPT = 4000;

/**
 * The rule behind the model `auto`: looking things up is for the fast tier; planning, reviewing,
 * a prompt of 4000 characters or one that names hard work (design, refactoring, debugging,
 * security, concurrency, …) for the powerful one; the rest is balanced.
 */
export function autoTier(agent: string, prompt: string): { tier: Tier; because: string } {
  const type = agent.toLowerCase();
  if (LOOKUP_AGENTS.has(type)) return { tier: 'fast', because: `${agent} looks things up` };
  if (THINKING_AGENTS.has(type)) return { tier: 'powerful', because: `${agent} needs judgement` };
  const hard = HARD_WORK.exec(prompt)?.[0];
  if (hard !== undefined) return { tier: 'powerful', because: `the prompt says "${hard}"` };
  if (prompt.length >= LONG_PROMPT) return { tier: 'powerful', because: 'the prompt is long' };
  return { tier: 'balanced', because: 'nothing asks for more or less' };
}
