import { isDeepStrictEqual } from 'node:util';
import type { Conversation } from './conversation.ts';
import type { TaskEvent } from '../events/event.ts';
import { toolCalls, type ToolCallPart, type ToolResultPart } from '../message.ts';

/**
 * The repeated calls of a task. They are recorded separately from the conversation, because compaction removes calls and
 * results from it. The count starts again when a person or a task sends a message. Notices do not count as messages,
 * because every command in the background causes a notice.
 */
export interface Repetition {
  /** The newest answers with calls whose results are known, the oldest first. Only these can be part of a repetition. */
  rounds: readonly CallRound[];
  /**
   * The number of times in a row that each call of the newest answer was made, including the call itself. By call id.
   */
  readonly timesInARow: Map<string, number>;
  /** The last call; null: there was none since the count started. */
  newest: Pick<ToolCallPart, 'name' | 'input'> | null;
  /** The number of times in a row that `newest` was made. */
  times: number;
}

/** The calls of an answer and their results, without the ids, which always differ. Equal rounds are the same object. */
export interface CallRound {
  /** The calls of the answer. */
  readonly calls: readonly Pick<ToolCallPart, 'name' | 'input'>[];
  /** The results, in the order of the calls. */
  readonly results: readonly Pick<ToolResultPart, 'text' | 'isError'>[];
}

/** The maximum number of rounds in a cycle. Models that repeat themselves do so in short cycles. */
export const MAX_CYCLE_LENGTH = 4;
/** The maximum number of repeated rounds that are remembered. */
const MAX_ROUNDS = 256;

export function initialRepetition(): Repetition {
  return { rounds: [], timesInARow: new Map(), newest: null, times: 0 };
}

/** Applies an event. `conversation`: its state before the event, because `turn.started` removes the open calls. */
export function applyToRepetition(
  repetition: Repetition,
  event: TaskEvent,
  conversation: Pick<Conversation, 'openCalls' | 'results' | 'queued'>,
): void {
  if (event.type === 'turn.ended') countCalls(repetition, toolCalls(event.message));
  if (event.type !== 'turn.started') return;
  repetition.rounds = addOpenRound(repetition, conversation);
  const hasMessage = conversation.queued.some(
    ({ id, kind }) => (kind === 'prompt' || kind === 'message') && event.inputs.includes(id),
  );
  if (!hasMessage) return;
  repetition.rounds = [];
  repetition.newest = null;
  repetition.times = 0;
}

function countCalls(repetition: Repetition, calls: readonly ToolCallPart[]): void {
  repetition.timesInARow.clear();
  for (const { id, name, input } of calls) {
    const { newest } = repetition;
    // The names are compared first: the first use of `isDeepStrictEqual` loads a module of Node, which would
    // make the first delegation of a process slower.
    const isSame = newest?.name === name && isDeepStrictEqual(newest.input, input);
    repetition.times = isSame ? repetition.times + 1 : 1;
    repetition.newest = { name, input };
    repetition.timesInARow.set(id, repetition.times);
  }
}

/** Adds the round of the open calls of a conversation, with the results so far. */
export function addOpenRound(
  { rounds }: Pick<Repetition, 'rounds'>,
  { openCalls, results }: Pick<Conversation, 'openCalls' | 'results'>,
): readonly CallRound[] {
  if (openCalls.length === 0) return rounds;
  const open: CallRound = {
    calls: openCalls.map(({ name, input }) => ({ name, input })),
    results: openCalls.flatMap(({ id }) => {
      const result = results.get(id);
      return result === undefined ? [] : [{ text: result.text, isError: result.isError }];
    }),
  };
  const recent = rounds.slice(-MAX_CYCLE_LENGTH);
  const equal = recent.findLast((round) => isDeepStrictEqual(round, open));
  // A round without an equal round ends all repetitions, so only the rounds of a possible new cycle remain.
  return equal === undefined ? [...recent, open] : [...rounds, equal].slice(-MAX_ROUNDS);
}
