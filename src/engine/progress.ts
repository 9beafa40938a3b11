import type { AssistantMessage, Message, ToolMessage } from '../protocol/message.ts';

/** Rounds that a cycle may have: a model that goes in circles goes in small ones. */
const LONGEST_CYCLE = 4;

interface Round {
  /** What was asked and what came back, without the ids that differ each time. */
  readonly signature: string;
  readonly calls: number;
}

/**
 * How many calls at the end of a conversation do nothing but repeat: the same calls with the same
 * results, round after round or in a cycle of up to four. 0 when the newest round is new.
 */
export function repeatedCalls(messages: readonly Message[]): number {
  const rounds = roundsFromEnd(messages);
  let most = 0;
  for (let cycle = 1; cycle <= LONGEST_CYCLE; cycle += 1) {
    let repeating = 0;
    while (isSame(rounds[repeating], rounds[repeating + cycle])) repeating += 1;
    // A cycle has to be gone through twice before it is one.
    if (repeating < cycle) continue;
    const calls = rounds.slice(0, repeating + cycle).reduce((sum, round) => sum + round.calls, 0);
    most = Math.max(most, calls);
  }
  return most;
}

function isSame(a: Round | undefined, b: Round | undefined): boolean {
  return a !== undefined && b !== undefined && a.signature === b.signature;
}

/** Rounds are looked at from the newest back, and no further than a cycle could need. */
const MOST_ROUNDS = 256;

function roundsFromEnd(messages: readonly Message[]): readonly Round[] {
  const rounds: Round[] = [];
  for (let at = messages.length - 1; at > 0 && rounds.length < MOST_ROUNDS; at -= 2) {
    const results = messages[at];
    const answer = messages[at - 1];
    if (results?.role !== 'tool' || answer?.role !== 'assistant') break;
    rounds.push(round(answer, results));
    if (rounds.length > LONGEST_CYCLE && !continues(rounds)) break;
  }
  return rounds;
}

/** Whether the oldest round so far still repeats a newer one. */
function continues(rounds: readonly Round[]): boolean {
  const oldest = rounds.length - 1;
  for (let cycle = 1; cycle <= LONGEST_CYCLE; cycle += 1) {
    if (isSame(rounds[oldest], rounds[oldest - cycle])) return true;
  }
  return false;
}

function round(answer: AssistantMessage, results: ToolMessage): Round {
  const asked = answer.content.flatMap((part) =>
    part.type === 'tool_call' ? [[part.name, part.input]] : [],
  );
  const told = results.content.map(({ text, isError }) => [text, isError]);
  return { signature: JSON.stringify([asked, told]), calls: results.content.length };
}
