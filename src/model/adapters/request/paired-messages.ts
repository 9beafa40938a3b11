import {
  toolCalls,
  type AssistantMessage,
  type Message,
  type ToolCallPart,
  type ToolMessage,
  type ToolResultPart,
} from '../../../protocol/message.ts';

const LOST = 'The call has no result: it was interrupted.';

/**
 * The same messages, where each answer with calls is followed at once by one result for each of them, in
 * their order: no API takes a call without its result, or a result without its call. What is complete
 * already, as histories are but for damage, stays the same object.
 */
export function pairCallsWithResults(messages: readonly Message[]): readonly Message[] {
  if (
    messages.every((message, index) => isInOrder(message, messages[index - 1], messages[index + 1]))
  )
    return messages;
  return messages.flatMap((message, index): readonly Message[] => {
    if (message.role === 'tool') return [];
    if (message.role === 'user') return [message];
    const results = resultsOf(message, messages.slice(index + 1));
    return results === null ? [message] : [message, results];
  });
}

function isInOrder(
  message: Message,
  before: Message | undefined,
  after: Message | undefined,
): boolean {
  switch (message.role) {
    case 'user':
      return true;
    case 'assistant': {
      const calls = toolCalls(message);
      return calls.length === 0 || (after?.role === 'tool' && answers(after, calls));
    }
    case 'tool':
      return (
        message.content.length > 0 &&
        before?.role === 'assistant' &&
        answers(message, toolCalls(before))
      );
  }
}

function answers({ content }: ToolMessage, calls: readonly ToolCallPart[]): boolean {
  return (
    content.length === calls.length &&
    content.every(({ callId }, index) => callId === calls[index]?.id)
  );
}

/** Null: the answer has no calls. */
function resultsOf(answer: AssistantMessage, later: readonly Message[]): ToolMessage | null {
  const calls = toolCalls(answer);
  if (calls.length === 0) return null;
  const end = later.findIndex(({ role }) => role === 'assistant');
  const given = later
    .slice(0, end === -1 ? undefined : end)
    .flatMap((message) => (message.role === 'tool' ? message.content : []));
  const open = [...given];
  const content = calls.map((call): ToolResultPart => {
    const at = open.findIndex(({ callId }) => callId === call.id);
    const [result] = at === -1 ? [] : open.splice(at, 1);
    return result ?? lostResult(call);
  });
  return { role: 'tool', content };
}

function lostResult({ id, name }: ToolCallPart): ToolResultPart {
  return { type: 'tool_result', callId: id, name, text: LOST, isError: true };
}
