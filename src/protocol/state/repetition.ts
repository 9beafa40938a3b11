import { isDeepStrictEqual } from 'node:util';
import type { Conversation } from './conversation.ts';
import type { TaskEvent } from '../events/event.ts';
import { toolCalls, type ToolCallPart, type ToolResultPart } from '../message.ts';

/**
 * The repeated calls of a task. They are not read from the conversation, because compaction removes calls and results
 * from it. The count starts again when a person or a task sends the model a message. Notices do not count as messages,
 * because every command in the background causes one.
 */
export interface Repetition {
  /** The answers that can be part of a repetition: those with calls whose results are known, oldest first. */
  rounds: readonly Round[];
  /**
   * The number of times that each call of the newest answer was made in a row, including the call itself. By call id.
   */
  readonly timesInARow: Map<string, number>;
  /** The last call. */
  newest: Pick<ToolCallPart, 'name' | 'input'> | null;
  /** The number of times that it was made in a row. */
  times: number;
}

/** The calls of an answer and their results, without ids, which always differ. Equal rounds are the same object. */
export interface Round {
  readonly asked: readonly Pick<ToolCallPart, 'name' | 'input'>[];
  readonly told: readonly Pick<ToolResultPart, 'text' | 'isError'>[];
}

/** The maximum number of rounds in a cycle. Models that repeat themselves do so in short cycles. */
export const MAX_CYCLE_LENGTH = 4;
/** The maximum number of repeated rounds that are kept. */
const MAX_ROUNDS = 256;

export function initialRepetition(): Repetition {
  return { rounds: [], timesInARow: new Map(), newest: null, times: 0 };
}

/** Applies an event. `conversation` is in the state before it, because `turn.started` closes the open calls. */
export function applyToRepetition(
  repetition: Repetition,
  event: TaskEvent,
  conversation: Pick<Conversation, 'openCalls' | 'results' | 'queued'>,
): void {
  if (event.type === 'turn.ended') countCalls(repetition, toolCalls(event.message));
  if (event.type !== 'turn.started') return;
  repetition.rounds = addOpenRound(repetition, conversation);
  const said = conversation.queued.some(
    ({ id, kind }) => (kind === 'prompt' || kind === 'message') && event.inputs.includes(id),
  );
  if (!said) return;
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

/** Adds the round of the open calls of a conversation, with the results that they have so far. */
export function addOpenRound(
  { rounds }: Pick<Repetition, 'rounds'>,
  { openCalls, results }: Pick<Conversation, 'openCalls' | 'results'>,
): readonly Round[] {
  if (openCalls.length === 0) return rounds;
  const open: Round = {
    asked: openCalls.map(({ name, input }) => ({ name, input })),
    told: openCalls.flatMap(({ id }) => {
      const result = results.get(id);
      return result === undefined ? [] : [{ text: result.text, isError: result.isError }];
    }),
  };
  const recent = rounds.slice(-MAX_CYCLE_LENGTH);
  const before = recent.findLast((round) => isDeepStrictEqual(round, open));
  // A new round can only repeat together with the rounds of the cycle that it ends.
  return before === undefined ? [...recent, open] : [...rounds, before].slice(-MAX_ROUNDS);
}
