import type { ModelScript, ScriptedAnswer } from '../../../scripted-model.ts';
import type { ModelRequest } from '../../../../src/protocol/model.ts';

export type Answers = Readonly<
  Record<string, readonly (ScriptedAnswer | ((request: ModelRequest) => ScriptedAnswer))[]>
>;

/** Returns the last text of a person or another agent in a request. Notices do not count. */
function lastSaid({ messages }: ModelRequest): string {
  const said = messages.findLast(
    (message) => message.role === 'user' && !isNotice(message.content.at(-1)?.text),
  );
  return said?.role === 'user' ? (said.content.at(-1)?.text ?? '') : '';
}

function isNotice(text = ''): boolean {
  return text.startsWith('<notice>');
}

/** Creates a script that answers each task by its prompt, in order. Texts before the prompt do not matter. */
export function byPrompt(answers: Answers): ModelScript {
  return async (request) => {
    const prompt = lastSaid(request);
    const after = request.messages.findLastIndex(({ role }) => role === 'user');
    const given = request.messages.slice(after).filter(({ role }) => role === 'assistant').length;
    const line = answers[prompt]?.[given];
    if (line === undefined) return { text: `${prompt} done` };
    return typeof line === 'function' ? line(request) : line;
  };
}

export function requestsFor(
  requests: readonly ModelRequest[],
  prompt: string,
): readonly ModelRequest[] {
  return requests.filter((request) => lastSaid(request) === prompt);
}
