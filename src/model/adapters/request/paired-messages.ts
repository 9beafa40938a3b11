import {
  toolCalls,
  type AssistantMessage,
  type Message,
  type ToolCallPart,
  type ToolMessage,
  type ToolResultPart,
} from '../../../protocol/message.ts';

const MISSING_RESULT = 'The call has no result: it was interrupted.';

/**
 * Places one result for each call directly after the answer with the calls, in the same order, because no API accepts a
 * call without its result or a result without its call. Missing results are replaced, and results without a call are
 * dropped. Returns the same array if nothing changes, as for every undamaged conversation.
 */
export function pairCallsWithResults(messages: readonly Message[]): readonly Message[] {
  if (
    messages.every((message, index) => isPaired(message, messages[index - 1], messages[index + 1]))
  )
    return messages;
  return messages.flatMap((message, index): readonly Message[] => {
    if (message.role === 'tool') return [];
    if (message.role === 'user') return [message];
    const results = collectResults(message, messages.slice(index + 1));
    return results === null ? [message] : [message, results];
  });
}

function isPaired(
  message: Message,
  before: Message | undefined,
  after: Message | undefined,
): boolean {
  switch (message.role) {
    case 'user':
      return true;
    case 'assistant': {
      const calls = toolCalls(message);
      return calls.length === 0 || (after?.role === 'tool' && matchesCalls(after, calls));
    }
    case 'tool':
      return (
        message.content.length > 0 &&
        before?.role === 'assistant' &&
        matchesCalls(message, toolCalls(before))
      );
  }
}

function matchesCalls({ content }: ToolMessage, calls: readonly ToolCallPart[]): boolean {
  return (
    content.length === calls.length &&
    content.every(({ callId }, index) => callId === calls[index]?.id)
  );
}

/** Collects the results for the calls of an answer from the later messages; null: the answer has no calls. */
function collectResults(answer: AssistantMessage, later: readonly Message[]): ToolMessage | null {
  const calls = toolCalls(answer);
  if (calls.length === 0) return null;
  const end = later.findIndex(({ role }) => role === 'assistant');
  const results = later
    .slice(0, end === -1 ? undefined : end)
    .flatMap((message) => (message.role === 'tool' ? message.content : []));
  const unused = [...results];
  const content = calls.map((call): ToolResultPart => {
    const index = unused.findIndex(({ callId }) => callId === call.id);
    const [result] = index === -1 ? [] : unused.splice(index, 1);
    return result ?? createMissingResult(call);
  });
  return { role: 'tool', content };
}

function createMissingResult({ id, name }: ToolCallPart): ToolResultPart {
  return { type: 'tool_result', callId: id, name, text: MISSING_RESULT, isError: true };
}
