import { byteLength, plural } from '../../base/text.ts';
import {
  type AssistantMessage,
  type Message,
  type ToolMessage,
  messageText,
  toolCalls,
} from '../../protocol/message.ts';
import { drawNonce, markOutside } from '../../protocol/outside-text.ts';

/** The most bytes of context that one call transfers. */
export const MAX_TRANSFERRED_BYTES = 131_072;

/** The most bytes of a conversation that another task gets as text, and the name of this limit in the text. */
interface QuoteLimit {
  readonly name: string;
  readonly bytes: number;
}

const TRANSFER_LIMIT: QuoteLimit = { name: 'handed_bytes', bytes: MAX_TRANSFERRED_BYTES };

/** The most UTF-16 units of one text of a turn; a longer one is cut to its beginning. */
const MAX_PART_LENGTH = 16_384;

/**
 * Quotes the last turns of a conversation as text for another task, which has other tools: the inputs, the
 * answers and the results of the calls. The newest turn is the one that transfers the context; its calls have no
 * outcome yet and are left out. If the text is too long, the oldest messages are left out.
 */
export function quoteLastTurns(
  messages: readonly Message[],
  turns: number,
  limit: QuoteLimit = TRANSFER_LIMIT,
): string {
  const quoted = messages.slice(findFirstMessage(messages, turns));
  const newest = quoted.length - 1;
  const there = quoted.filter(({ role }) => role === 'assistant').length;
  const blocks = quoted.flatMap((message, index) =>
    quoteMessage(message, { isNewest: index === newest }),
  );
  const kept = takeNewest(blocks, limit.bytes);
  const left = blocks.length - kept.length;
  const label =
    left === 0
      ? ''
      : `[${plural(left, 'older part')} left out: limit ${limit.name} = ${limit.bytes}]`;
  const lead = `What the agent that gives you this task was told, said and did in its last ${plural(there, 'turn')}, the oldest first. You have tools of your own.`;
  return formatInitialContext(lead, [{ label, text: kept.join('\n\n') }]);
}

/** Returns the index of the first message of the last turns, including the inputs of its request. */
function findFirstMessage(messages: readonly Message[], turns: number): number {
  let left = turns;
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    if (messages[at]?.role === 'assistant') left -= 1;
    if (left > 0) continue;
    let begin = at;
    while (begin > 0 && messages[begin - 1]?.role === 'user') begin -= 1;
    return begin;
  }
  return 0;
}

function quoteMessage(
  message: Message,
  { isNewest }: { readonly isNewest: boolean },
): readonly string[] {
  switch (message.role) {
    case 'user':
      return message.content.map(({ text }) => `Told:\n${shorten(text)}`);
    case 'assistant':
      return quoteAnswer(message, { isNewest });
    case 'tool':
      return quoteResults(message);
    default:
      return message satisfies never;
  }
}

function quoteAnswer(
  message: AssistantMessage,
  { isNewest }: { readonly isNewest: boolean },
): readonly string[] {
  const text = messageText(message);
  const calls = isNewest ? [] : toolCalls(message);
  return [
    ...(text.trim() === '' ? [] : [`Said:\n${shorten(text)}`]),
    ...calls.map(({ name, input }) => `Called ${name}: ${shorten(JSON.stringify(input))}`),
  ];
}

function quoteResults({ content }: ToolMessage): readonly string[] {
  return content.map(
    ({ name, text, isError }) => `${isError ? 'Error' : 'Result'} of ${name}:\n${shorten(text)}`,
  );
}

function shorten(text: string): string {
  if (text.length <= MAX_PART_LENGTH) return text;
  const kept = text.slice(0, MAX_PART_LENGTH).toWellFormed();
  return `${kept}\n[${text.length - MAX_PART_LENGTH} more characters left out]`;
}

/** Returns the newest blocks that fit together. */
function takeNewest(blocks: readonly string[], most: number): readonly string[] {
  let bytes = 0;
  const tooOld = blocks.findLastIndex((block) => {
    bytes += byteLength(block);
    return bytes > most;
  });
  return blocks.slice(tooOld + 1);
}

/** Outside text that a task gets with its prompt. */
export interface QuotedText {
  /** Muster's own text about it, escaped. */
  readonly label: string;
  readonly text: string;
  /** Muster's own text after it. */
  readonly note?: string;
}

/**
 * Formats the initial context that stands before the prompt of a task: each text is labelled and marked as outside
 * text.
 */
export function formatInitialContext(lead: string, quotes: readonly QuotedText[]): string {
  const nonce = drawNonce(quotes.map(({ label, text }) => `${label}\n${text}`).join('\n'));
  const blocks = quotes.map(({ label, text, note = '' }) =>
    [label, markOutside(text, nonce), note].filter((part) => part !== '').join('\n'),
  );
  return `<notice>${lead}\n${blocks.join('\n\n')}\n</notice>`;
}
