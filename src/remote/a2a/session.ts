import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { messageText, type Message, type ProviderMeta } from '../../protocol/message.ts';

/** The name under which parts of an answer keep the data of the protocol. */
const META_KEY = 'a2a';
/** The maximum number of characters of an id. A longer one is not kept. */
const MAX_ID_LENGTH = 1_000;

/** The conversation of a server to which a task belongs. */
export interface A2aSession {
  /** The id of the conversation; empty if there is none. */
  readonly contextId: string;
  /** The id of the task that waits for an answer; empty if none does. */
  readonly taskId: string;
}

/** The message that a request sends. */
export interface OutgoingText extends A2aSession {
  readonly text: string;
}

/** Returns the data with which a later request continues a conversation. Returns undefined if there is none. */
export function toMeta(
  { contextId, taskId }: A2aSession,
  { isOpen }: { readonly isOpen: boolean },
): ProviderMeta | undefined {
  const ids: JsonObject = {
    ...(isId(contextId) ? { contextId } : {}),
    ...(isOpen && isId(taskId) ? { taskId } : {}),
  };
  return Object.keys(ids).length === 0 ? undefined : { [META_KEY]: ids };
}

function isId(id: string): boolean {
  return id !== '' && id.length <= MAX_ID_LENGTH;
}

/**
 * Returns what a request sends: the text since the last answer, which continues the conversation of that answer. If the
 * server has no such conversation, a new one begins.
 *
 * @param instructions the text with which a new conversation begins; may be empty
 */
export function readOutgoing(messages: readonly Message[], instructions: string): OutgoingText {
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  const session = findSession(messages[last]);
  if (session === null) return beginAnew(messages, instructions);
  return { text: textSince(messages, last + 1), ...session };
}

/** Returns a message that begins a new conversation. It repeats the earlier messages, if there are any. */
export function beginAnew(messages: readonly Message[], instructions: string): OutgoingText {
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  const earlier = messages.slice(0, last + 1).flatMap((message) => {
    if (message.role === 'tool') return [];
    if (message.role === 'assistant') return [`You: ${messageText(message)}`];
    return [`User: ${message.content.map(({ text }) => text).join('\n\n')}`];
  });
  const texts = [
    ...(instructions === '' ? [] : [instructions]),
    ...(earlier.length === 0 ? [] : ['The conversation so far:', ...earlier, 'The new message:']),
    textSince(messages, last + 1),
  ];
  return { text: texts.join('\n\n'), contextId: '', taskId: '' };
}

function textSince(messages: readonly Message[], start: number): string {
  return messages
    .slice(start)
    .flatMap((message) => (message.role === 'user' ? message.content : []))
    .map(({ text }) => text)
    .join('\n\n');
}

function findSession(message: Message | undefined): A2aSession | null {
  if (message?.role !== 'assistant') return null;
  for (const { meta } of message.content.toReversed()) {
    const ids = meta?.[META_KEY];
    if (!isJsonObject(ids)) continue;
    const { contextId, taskId } = ids;
    return {
      contextId: typeof contextId === 'string' ? contextId : '',
      taskId: typeof taskId === 'string' ? taskId : '',
    };
  }
  return null;
}
