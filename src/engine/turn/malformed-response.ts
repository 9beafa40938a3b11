import { findTextCall } from '../../protocol/text-calls/call-as-text.ts';
import { continuationNoticeId } from '../../protocol/state/faults.ts';
import type { OutputCap } from '../../protocol/output-cap.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';
import * as endings from '../task/endings.ts';
import type { TaskEnding } from '../task/endings.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import { roundAmount } from '../limits/limit-message.ts';

/** The most answers in a row without text or call before the task ends. */
const MAX_EMPTY_ANSWERS = 3;
/** The most answers in a row that end with a call written as text. */
const MAX_CALLS_AS_TEXT = 3;
/** The most answers in a row of which no call could run. */
const MAX_FAULTY_CALLS = 8;
/** The most answers in a row that are cut off in their text; the model continues after all but the last. */
const MAX_CUT_ANSWERS = 4;

/** The step after a malformed answer: the model is told, once for each answer, or the task ends. */
export type MalformedResponseStep =
  | { readonly kind: 'tell'; readonly id: string; readonly text: string }
  | { readonly kind: 'end'; readonly ending: TaskEnding };

type Answer = NonNullable<TaskState['answer']>;

/**
 * Decides what follows an answer that ends with a call written as text: the model is told before anything else
 * is done. Returns null if the answer does not end so, or if the model was told already.
 */
export function decideAfterCallAsText(
  state: TaskState,
  { text }: Answer,
): MalformedResponseStep | null {
  const { callsAsText } = state.activation;
  if (callsAsText === 0) return null;
  const call = findTextCall(text, state.spec.tools);
  if (callsAsText >= MAX_CALLS_AS_TEXT) {
    return {
      kind: 'end',
      ending: endings.endWithCallsAsText(state, callsAsText, call?.form ?? null),
    };
  }
  const id = `fault-${state.turns}`;
  if (state.conversation.inputIds.has(id)) return null;
  const told = `You wrote a call of ${call?.tool ?? 'a tool'} as text, and text runs nothing: no tool has run. Call the tool itself, or give your final answer as text. A call that you only mean to show belongs in a code block, with the rest of your answer after it.`;
  return { kind: 'tell', id, text: told };
}

/** Decides what follows a final answer that is empty or was cut off. Returns null if the answer is complete. */
export function decideAfterUnfinishedAnswer(
  state: TaskState,
  { reason, text, outputCap }: Answer,
): MalformedResponseStep | null {
  const { emptyAnswers, cutAnswers } = state.activation;
  const id = `fault-${state.turns}`;
  const cut = reason === 'length' ? outputCap : undefined;
  if (text.trim() === '') {
    if (emptyAnswers >= MAX_EMPTY_ANSWERS) {
      if (cut !== undefined) return { kind: 'end', ending: endings.endByOutputCap(state, cut) };
      return { kind: 'end', ending: endings.endWithoutAnswer(state, emptyAnswers) };
    }
    return { kind: 'tell', id, text: emptyAnswerText(reason, cut) };
  }
  if (reason !== 'length') return null;
  if (cutAnswers >= MAX_CUT_ANSWERS) {
    if (cut !== undefined) return { kind: 'end', ending: endings.endByOutputCap(state, cut) };
    return { kind: 'end', ending: endings.endCutOff(text, cutAnswers) };
  }
  return { kind: 'tell', id: continuationNoticeId(state.turns), text: cutAnswerText(cut) };
}

function emptyAnswerText(reason: Answer['reason'], cut: OutputCap | undefined): string {
  if (reason !== 'length') return NOTHING;
  return cut === undefined ? NOTHING_WHOLE : `${outputCapText(cut)} ${LESS_AT_ONCE}`;
}

function cutAnswerText(cut: OutputCap | undefined): string {
  return cut === undefined ? GO_ON : `${outputCapText(cut)} ${GO_ON_BRIEFLY}`;
}

function outputCapText({ tokens, limit, value, used }: OutputCap): string {
  return `Your answer was cut off after ${tokens} tokens: the limit ${limit} = ${value} (${roundAmount(used)} used) allows no longer answer.`;
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

/** Returns the limit on answers of which no call could run, if it is reached. */
export function findFaultyCallsLimit({ activation: { faultyCalls } }: TaskState): LimitHit | null {
  if (faultyCalls < MAX_FAULTY_CALLS) return null;
  return { limit: 'faulty_calls', value: MAX_FAULTY_CALLS, used: faultyCalls };
}
