import type { AssistantMessage, Message, ToolMessage } from '../protocol/message.ts';

/**
 * How many calls of a conversation's end repeat each other: the same calls with the same results,
 * round after round. 0 when the newest round differs from the one before it.
 */
export function repeatedCalls(messages: readonly Message[]): number {
  let newest: string | null = null;
  let rounds = 0;
  let calls = 0;
  for (let at = messages.length - 1; at > 0; at -= 2) {
    const results = messages[at];
    const answer = messages[at - 1];
    if (results?.role !== 'tool' || answer?.role !== 'assistant') break;
    const round = signature(answer, results);
    newest ??= round;
    if (round !== newest) break;
    rounds += 1;
    calls += results.content.length;
  }
  return rounds > 1 ? calls : 0;
}

/** What a round did, without the ids that differ each time. */
function signature(answer: AssistantMessage, results: ToolMessage): string {
  const asked = answer.content.flatMap((part) =>
    part.type === 'tool_call' ? [[part.name, part.input]] : [],
  );
  return JSON.stringify([asked, results.content.map(({ text, isError }) => [text, isError])]);
}
