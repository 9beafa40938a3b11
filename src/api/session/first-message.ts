import { UsageError } from '../../base/errors.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';

/**
 * The first message of a conversation: what its agent begins with, then what the user says, as in
 * Claude Code. Throws UsageError where there is neither.
 */
export function firstMessage(
  agent: Pick<AgentDefinition, 'initialPrompt'> | null,
  prompt: string | undefined,
): string {
  if (prompt?.trim() === '') throw new UsageError('the prompt is empty');
  const parts = [agent?.initialPrompt, prompt].filter((part) => part !== undefined);
  if (parts.length === 0) throw new UsageError('there is no prompt');
  return parts.join('\n\n');
}
