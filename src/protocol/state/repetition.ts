import { isDeepStrictEqual } from 'node:util';
import type { Conversation } from './conversation.ts';
import type { TaskEvent } from '../events/event.ts';
import { toolCalls, type ToolCallPart, type ToolResultPart } from '../message.ts';

/**
 * How a task repeats itself: a fold of its own, since the conversation forgets, by compaction, what was
 * called and what came back. It begins anew when somebody says something to the model. Notices don't count
 * as said: a command in the background gives one each time that it is made.
 */
export interface Repetition {
  /** Answers with calls whose results are known, oldest first: all that can be part of a repetition. */
  rounds: readonly Round[];
  /**
   * Of the calls of the newest answer, by id: how many times each was made in a row by then, itself
   * counted, with nothing else called in between.
   */
  readonly timesInARow: Map<string, number>;
  /** The call that was made last. */
  newest: Pick<ToolCallPart, 'name' | 'input'> | null;
  /** How many times in a row it was made. */
  times: number;
}

/** Without the ids, which differ each time. The same round again is the same object. */
export interface Round {
  readonly asked: readonly Pick<ToolCallPart, 'name' | 'input'>[];
  readonly told: readonly Pick<ToolResultPart, 'text' | 'isError'>[];
}

/** Rounds that a cycle may have: a model that goes in circles goes in small ones. */
export const LONGEST_CYCLE = 4;
/** Of what repeats, no more is kept. */
const MOST_ROUNDS = 256;

export function initialRepetition(): Repetition {
  return { rounds: [], timesInARow: new Map(), newest: null, times: 0 };
}

/** `conversation` as it is before the event: a `turn.started` takes its open calls. */
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
    const isSame = isDeepStrictEqual(repetition.newest, { name, input });
    repetition.times = isSame ? repetition.times + 1 : 1;
    repetition.newest = { name, input };
    repetition.timesInARow.set(id, repetition.times);
  }
}

/** The rounds, with that of the calls that the conversation has open, as far as they have an outcome. */
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
  const recent = rounds.slice(-LONGEST_CYCLE);
  const before = recent.findLast((round) => isDeepStrictEqual(round, open));
  // Nothing before a new round can repeat with what comes after it, but for the cycle that it ends.
  return before === undefined ? [...recent, open] : [...rounds, before].slice(-MOST_ROUNDS);
}
