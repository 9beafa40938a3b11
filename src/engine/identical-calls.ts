import {
  toolCalls,
  type Message,
  type ToolCallPart,
  type UserMessage,
} from '../protocol/message.ts';

/** Times that one call runs in a row, whatever came back: a model that gets no further makes it for ever. */
export const MOST_IDENTICAL_CALLS = 10;

/**
 * Of the calls of the newest answer, and of some before it, by id: how many times each was made in a row
 * by then, itself counted, with nothing else called and nothing said to the model in between. Notices don't
 * count as said: a command in the background gives one each time that it is made. Counted up to a little over
 * `most`.
 */
export function timesInARow(
  messages: readonly Message[],
  most: number,
): ReadonlyMap<string, number> {
  const newest = messages.findLastIndex(({ role }) => role === 'assistant');
  const times = new Map<string, number>();
  const run = { signature: '', length: 0 };
  for (const call of callsSince(messages, newest, most)) {
    const signature = JSON.stringify([call.name, call.input]);
    run.length = signature === run.signature ? run.length + 1 : 1;
    run.signature = signature;
    times.set(call.id, run.length);
  }
  return times;
}

/** All calls of the newest answer, and before them as many as could count. Oldest first. */
function callsSince(
  messages: readonly Message[],
  newest: number,
  most: number,
): readonly ToolCallPart[] {
  const rounds: (readonly ToolCallPart[])[] = [];
  let before = 0;
  for (let at = newest; at >= 0 && before < most; at -= 1) {
    const message = messages[at];
    if (message === undefined || (message.role === 'user' && !isNotice(message))) break;
    if (message.role !== 'assistant') continue;
    const calls = toolCalls(message);
    rounds.push(calls);
    if (at !== newest) before += calls.length;
  }
  return rounds.toReversed().flat();
}

/** Whether nobody says anything in it: it tells of limits, and of what has ended. */
function isNotice({ content }: UserMessage): boolean {
  return content.every(({ text }) => text.startsWith('<notice>'));
}
