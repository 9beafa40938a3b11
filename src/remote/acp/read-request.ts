import { isJsonObject } from '../../base/json.ts';
import { truncate } from '../../base/text.ts';
import { REMOTE_TOOLS } from '../../protocol/tool-names.ts';
import type { Attachment } from '../../protocol/attachment.ts';
import type {
  AssistantPart,
  Message,
  ProviderMeta,
  ToolResultPart,
} from '../../protocol/message.ts';

/** The part of a request that is new for the program. */
export interface AddedInput {
  /** The results of the calls of the last answer. */
  readonly results: readonly ToolResultPart[];
  /** The texts of the user, the parent and Muster since the last answer. */
  readonly texts: readonly string[];
  readonly attachments: readonly Attachment[];
  /** The messages up to the last answer. */
  readonly earlier: readonly Message[];
  /** The id of the program's session in which the last answer was given; null if there is none. */
  readonly session: string | null;
}

/** Reads what the newest messages of a request add. */
export function readAddedInput(messages: readonly Message[]): AddedInput {
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  const added = messages.slice(last + 1);
  const users = added.flatMap((message) => (message.role === 'user' ? message.content : []));
  return {
    results: added.flatMap((message) => (message.role === 'tool' ? message.content : [])),
    texts: users.map(({ text }) => text),
    attachments: users.flatMap(({ attachments = [] }) => attachments),
    earlier: messages.slice(0, last + 1),
    session: findSession(messages),
  };
}

/** Counts the texts of the user, the parent and Muster in a conversation. */
export function countTexts(messages: readonly Message[]): number {
  return listTexts(messages).length;
}

/** Returns the texts that a program has not got yet. `delivered`: the number of those that it has got. */
export function findNewTexts(messages: readonly Message[], delivered: number): readonly string[] {
  return listTexts(messages).slice(delivered);
}

function listTexts(messages: readonly Message[]): readonly string[] {
  return messages.flatMap((message) =>
    message.role === 'user' ? message.content.map(({ text }) => text) : [],
  );
}

/** Returns the data by which a later process finds the session of a part. */
export function toSessionMeta(session: string): ProviderMeta {
  return { acp: { session } };
}

function findSession(messages: readonly Message[]): string | null {
  const parts = messages.flatMap((message): readonly AssistantPart[] =>
    message.role === 'assistant' ? message.content : [],
  );
  for (const { meta } of parts.toReversed()) {
    const acp = meta?.['acp'];
    const session = isJsonObject(acp) ? acp['session'] : undefined;
    if (typeof session === 'string') return session;
  }
  return null;
}

/** Returns messages without the newest answer and the results of its calls. */
export function withoutNewestRound(messages: readonly Message[]): readonly Message[] {
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  return messages.filter(({ role }, index) => index < last || (index > last && role === 'user'));
}

const NOTICE = /^<notice>[\s\S]*<\/notice>$/;

/** Tells whether a text is a notice of Muster and no message of the user or the parent. */
export function isNoticeText(text: string): boolean {
  return NOTICE.test(text.trim());
}

/** The maximum number of characters of an earlier conversation, and of one part of it, that a new session gets. */
const MAX_EARLIER_LENGTH = 100_000;
const MAX_PART_LENGTH = 8_000;

/**
 * Formats the first message to a session.
 *
 * @param options `instructions`: those of the definition. `continues`: true if the session knows the conversation already
 */
export function formatFirstMessage(
  { earlier, results, texts }: Pick<AddedInput, 'earlier' | 'results' | 'texts'>,
  { instructions, continues }: { readonly instructions: string; readonly continues: boolean },
): string {
  const said = continues || earlier.length === 0 ? '' : formatEarlier(earlier);
  const outcomes = results.map(
    ({ name, text }) => `Result of ${name}:\n${truncate(text, MAX_PART_LENGTH)}`,
  );
  const parts = [
    ...(continues || instructions.trim() === '' ? [] : [instructions.trim()]),
    ...(said === '' ? [] : [`The conversation so far, which another session had:\n\n${said}`]),
    ...outcomes,
    ...texts,
  ];
  const isGoingOn = texts.length === 0 && earlier.length > 0;
  return [...parts, ...(isGoingOn ? [GO_ON] : [])].join('\n\n');
}

const GO_ON =
  'You were interrupted, and your program was started again. Look at what is there, and go on with the task.';

/** Formats an earlier conversation. Its end is kept if it is long. */
function formatEarlier(messages: readonly Message[]): string {
  const blocks = messages.flatMap((message): readonly string[] => {
    if (message.role === 'user') return message.content.map(({ text }) => `User: ${cut(text)}`);
    if (message.role === 'tool')
      return message.content.flatMap(({ name, text }) =>
        REMOTE_TOOLS.includes(name) ? [] : [`Result of ${name}: ${cut(text)}`],
      );
    return message.content.flatMap((part) => {
      if (part.type === 'text') return part.text.trim() === '' ? [] : [`You: ${cut(part.text)}`];
      if (part.type === 'reasoning' || REMOTE_TOOLS.includes(part.name)) return [];
      return [`You called ${part.name}: ${cut(JSON.stringify(part.input))}`];
    });
  });
  const text = blocks.join('\n\n');
  if (text.length <= MAX_EARLIER_LENGTH) return text;
  return `[the beginning is left out]\n${text.slice(-MAX_EARLIER_LENGTH)}`;
}

function cut(text: string): string {
  const short = truncate(text, MAX_PART_LENGTH);
  return short.length < text.length ? `${short}…` : short;
}
