import { byteLength, plural } from '../../base/text.ts';
import {
  type AssistantMessage,
  type Message,
  type ToolMessage,
  messageText,
  toolCalls,
} from '../../protocol/message.ts';
import { initialContextText, MAX_TRANSFERRED_BYTES } from './quoted-texts.ts';

/** How much of a conversation another task gets as text, in the name that it is told by. */
interface WordsLimit {
  readonly name: string;
  readonly bytes: number;
}

const HANDED: WordsLimit = { name: 'handed_bytes', bytes: MAX_TRANSFERRED_BYTES };

/** UTF-16 units of one text of a turn: of a longer one its beginning. */
const PART_LENGTH = 16_384;

/**
 * The last turns of a conversation as text for another task, which has other tools: what was said with each
 * request, the answer, and what its calls came to. The newest turn is the one that hands them on; its calls
 * have no outcome yet and are left out. Where all is too long, the oldest messages are left out.
 */
export function lastTurns(
  messages: readonly Message[],
  turns: number,
  limit: WordsLimit = HANDED,
): string {
  const quoted = messages.slice(beginOf(messages, turns));
  const newest = quoted.length - 1;
  const there = quoted.filter(({ role }) => role === 'assistant').length;
  const blocks = quoted.flatMap((message, index) =>
    blocksOf(message, { isNewest: index === newest }),
  );
  const kept = fitting(blocks, limit.bytes);
  const left = blocks.length - kept.length;
  const label =
    left === 0
      ? ''
      : `[${plural(left, 'older part')} left out: limit ${limit.name} = ${limit.bytes}]`;
  const lead = `What the agent that gives you this task was told, said and did in its last ${plural(there, 'turn')}, the oldest first. You have tools of your own.`;
  return initialContextText(lead, [{ label, text: kept.join('\n\n') }]);
}

/** Where the first of so many turns begins: with what was said in its request. */
function beginOf(messages: readonly Message[], turns: number): number {
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

function blocksOf(
  message: Message,
  { isNewest }: { readonly isNewest: boolean },
): readonly string[] {
  switch (message.role) {
    case 'user':
      return message.content.map(({ text }) => `Told:\n${shortened(text)}`);
    case 'assistant':
      return answerBlocks(message, { isNewest });
    case 'tool':
      return resultBlocks(message);
    default:
      return message satisfies never;
  }
}

function answerBlocks(
  message: AssistantMessage,
  { isNewest }: { readonly isNewest: boolean },
): readonly string[] {
  const text = messageText(message);
  const calls = isNewest ? [] : toolCalls(message);
  return [
    ...(text.trim() === '' ? [] : [`Said:\n${shortened(text)}`]),
    ...calls.map(({ name, input }) => `Called ${name}: ${shortened(JSON.stringify(input))}`),
  ];
}

function resultBlocks({ content }: ToolMessage): readonly string[] {
  return content.map(
    ({ name, text, isError }) => `${isError ? 'Error' : 'Result'} of ${name}:\n${shortened(text)}`,
  );
}

function shortened(text: string): string {
  if (text.length <= PART_LENGTH) return text;
  const kept = text.slice(0, PART_LENGTH).toWellFormed();
  return `${kept}\n[${text.length - PART_LENGTH} more characters left out]`;
}

/** The newest of them that fit together. */
function fitting(blocks: readonly string[], most: number): readonly string[] {
  let bytes = 0;
  const tooOld = blocks.findLastIndex((block) => {
    bytes += byteLength(block);
    return bytes > most;
  });
  return blocks.slice(tooOld + 1);
}
