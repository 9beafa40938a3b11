import { findTextCall } from '../../protocol/text-calls/call-as-text.ts';
import { continuationNoticeId } from '../../protocol/state/faults.ts';
import type { OutputCap } from '../../protocol/output-cap.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';
import * as endings from '../task/endings.ts';
import type { Ending } from '../task/endings.ts';
import { shown } from '../limits/limits.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** Answers without text or call in a row before the task is given up. */
const MOST_EMPTY_ANSWERS = 3;
/** Answers in a row that end with a call written as text. */
const MOST_CALLS_AS_TEXT = 3;
/** Answers in a row of which no call could run. */
const MOST_FAULTY_CALLS = 8;
/** Answers in a row that are cut off in their text; all but the last are gone on from. */
const MOST_CUT_ANSWERS = 4;

/** What follows a faulty answer: it is told to the model, once an answer, or the task ends. */
export type AfterMalformedAnswer =
  | { readonly kind: 'tell'; readonly id: string; readonly text: string }
  | { readonly kind: 'end'; readonly ending: Ending };

type Answer = NonNullable<TaskState['answer']>;

/**
 * Decides what follows an answer that ends with a call written as text: whatever else waits, its model is told
 * first. Returns null if the answer does not, or if its model was told already.
 */
export function afterCallAsText(state: TaskState, { text }: Answer): AfterMalformedAnswer | null {
  const { callsAsText } = state.activation;
  if (callsAsText === 0) return null;
  const call = findTextCall(text, state.spec.tools);
  if (callsAsText >= MOST_CALLS_AS_TEXT) {
    return {
      kind: 'end',
      ending: endings.wroteCallsAsText(state, callsAsText, call?.form ?? null),
    };
  }
  const id = `fault-${state.turns}`;
  if (state.conversation.inputIds.has(id)) return null;
  const told = `You wrote a call of ${call?.tool ?? 'a tool'} as text, and text runs nothing: no tool has run. Call the tool itself, or give your final answer as text. A call that you only mean to show belongs in a code block, with the rest of your answer after it.`;
  return { kind: 'tell', id, text: told };
}

/** After an answer that would be the last one, but is empty or was cut off. Null: it is whole. */
export function afterUnfinished(
  state: TaskState,
  { reason, text, outputCap }: Answer,
): AfterMalformedAnswer | null {
  const { emptyAnswers, cutAnswers } = state.activation;
  const id = `fault-${state.turns}`;
  const cut = reason === 'length' ? outputCap : undefined;
  if (text.trim() === '') {
    if (emptyAnswers >= MOST_EMPTY_ANSWERS) {
      if (cut !== undefined) return { kind: 'end', ending: endings.cutByBudget(state, cut) };
      return { kind: 'end', ending: endings.gaveNothing(state, emptyAnswers) };
    }
    return { kind: 'tell', id, text: nothingArrived(reason, cut) };
  }
  if (reason !== 'length') return null;
  if (cutAnswers >= MOST_CUT_ANSWERS) {
    if (cut !== undefined) return { kind: 'end', ending: endings.cutByBudget(state, cut) };
    return { kind: 'end', ending: endings.cutOff(text, cutAnswers) };
  }
  return { kind: 'tell', id: continuationNoticeId(state.turns), text: goOn(cut) };
}

function nothingArrived(reason: Answer['reason'], cut: OutputCap | undefined): string {
  if (reason !== 'length') return NOTHING;
  return cut === undefined ? NOTHING_WHOLE : `${cutAt(cut)} ${LESS_AT_ONCE}`;
}

function goOn(cut: OutputCap | undefined): string {
  return cut === undefined ? GO_ON : `${cutAt(cut)} ${GO_ON_BRIEFLY}`;
}

function cutAt({ tokens, limit, value, used }: OutputCap): string {
  return `Your answer was cut off after ${tokens} tokens: the limit ${limit} = ${value} (${shown(used)} used) allows no longer answer.`;
}

const LESS_AT_ONCE =
  'Nothing of it arrived, since no text or call of it was whole. Send less at once, and come to the end soon.';
const GO_ON_BRIEFLY =
  'Go on with it exactly where it stopped, and come to its end soon: no introduction, nothing said again.';
const NOTHING = 'Your answer was empty. Go on with the task, or give your final answer as text.';
const NOTHING_WHOLE =
  'Your answer reached your output limit before any text or call of it was whole, so nothing of it arrived. Send less at once: a long text in several calls, one part each.';
const GO_ON =
  'Your answer was cut off at your output limit. Go on with it exactly where it stopped: no introduction, nothing said again.';

/** The limit on answers of which no call could run, where it is reached. */
export function malformedCallsHit({ activation: { faultyCalls } }: TaskState): LimitHit | null {
  if (faultyCalls < MOST_FAULTY_CALLS) return null;
  return { limit: 'faulty_calls', value: MOST_FAULTY_CALLS, used: faultyCalls };
}
