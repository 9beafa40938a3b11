import type { LanguageModelV4Prompt, SharedV4ProviderOptions } from '@ai-sdk/provider';

/**
 * Blocks in which Anthropic looks for what an earlier request left in the cache, from a mark back, its
 * own one included.
 */
const LOOKED_AT = 20;

/** Marks the last part of the last message, the end of what the next turn will send again. */
export function markEnd(prompt: LanguageModelV4Prompt, mark: SharedV4ProviderOptions): void {
  markLastPart(prompt, prompt.length - 1, mark);
}

/**
 * Marks where the request before this one ended, if an answer of many calls and their results stand since
 * and the mark at the end would not be looked back from so far: all that was said would be paid for again.
 * Whether it did.
 */
export function markFormerEnd(
  prompt: LanguageModelV4Prompt,
  mark: SharedV4ProviderOptions,
): boolean {
  const answer = prompt.findLastIndex(({ role }) => role === 'assistant');
  if (answer <= 0) return false;
  const added = prompt.slice(answer).reduce((sum, { content }) => sum + content.length, 0);
  return added >= LOOKED_AT && markLastPart(prompt, answer - 1, mark);
}

function markLastPart(
  prompt: LanguageModelV4Prompt,
  at: number,
  mark: SharedV4ProviderOptions,
): boolean {
  const message = prompt[at];
  if (message === undefined || message.role === 'system') return false;
  const part = message.content.at(-1);
  if (part === undefined || part.type === 'reasoning') return false;
  part.providerOptions = { ...part.providerOptions, ...mark };
  return true;
}
