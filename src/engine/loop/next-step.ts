import { unansweredCalls } from '../../protocol/state/conversation.ts';
import { runningShells } from '../../protocol/state/owned-work.ts';
import type { TaskInput } from '../../protocol/input.ts';
import type { ToolCallPart } from '../../protocol/message.ts';
import { addOpenRound, MAX_CYCLE_LENGTH, type Round } from '../../protocol/state/repetition.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';
import { isEndedByDenials } from '../../policy/decide-question.ts';
import * as endings from '../task/endings.ts';
import type { TaskEnding } from '../task/endings.ts';
import { stopOrder } from '../task/stop-order.ts';
import { MAX_REFUSED_MESSAGES } from '../delegation/repeated-delegations.ts';
import { outputSchemaOf } from '../task/output-schema.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import { findTextCall } from '../../protocol/text-calls/call-as-text.ts';
import { continuationNoticeId } from '../../protocol/state/faults.ts';
import type { OutputCap } from '../../protocol/output-cap.ts';
import { roundAmount } from '../limits/limit-message.ts';

/** The next step of a task. */
export type Step =
  | { readonly kind: 'calls'; readonly calls: readonly ToolCallPart[] }
  /** `none` if only the final answer remains. */
  | { readonly kind: 'turn'; readonly toolChoice: 'auto' | 'none' }
  /** A limit that allows no further turn with tools. */
  | { readonly kind: 'limit'; readonly hit: LimitHit }
  /** A notice for the model; it has an `id` if it is given only once. */
  | { readonly kind: 'tell'; readonly text: string; readonly id?: string }
  /** Wait for children in the background, or for a message. */
  | { readonly kind: 'wait' }
  /** Summarize the context and do nothing else. */
  | { readonly kind: 'compact'; readonly keep: string | null }
  | { readonly kind: 'stop_shells'; readonly shells: readonly string[] }
  /** Check the final answer against the output schema. */
  | { readonly kind: 'check'; readonly answer: string }
  /** Close a turn whose request was open when it was interrupted; the request is not sent again. */
  | { readonly kind: 'close_turn'; readonly turn: number; readonly because: string }
  /** Close calls that were interrupted. */
  | { readonly kind: 'close_calls'; readonly because: string }
  | { readonly kind: 'end'; readonly ending: TaskEnding };

/** The configured limits that `nextStep` checks. */
interface StepLimits {
  /** Number of repeated calls after which a task is ended. */
  readonly noProgressCalls: number;
}

/**
 * Decides the next step of a task. It depends on the state alone, so that a task continues after a crash with the
 * step that it would have taken.
 */
export function nextStep(state: TaskState, limits: StepLimits): Step {
  const { openTurn, activation, answer, conversation } = state;
  const { compacts } = activation;
  if (compacts !== null) {
    if (!activation.hasCompacted) return { kind: 'compact', keep: compacts.keep };
    return { kind: 'end', ending: { end: compacts.end, result: compacts.result } };
  }
  if (openTurn !== null) {
    const { turn, toolChoice } = openTurn;
    if (state.interrupted === null) return { kind: 'turn', toolChoice };
    return { kind: 'close_turn', turn, because: state.interrupted };
  }
  if (activation.hasLastTurnBegun && activation.limit !== null) {
    return { kind: 'end', ending: endings.endByLimit(state, activation.limit) };
  }
  if (answer?.reason === 'content_filter')
    return { kind: 'end', ending: endings.endFiltered(state) };
  if (isEndedByDenials(state)) return { kind: 'end', ending: endings.endHaltedByUser(state) };
  if (state.interrupted !== null) {
    const step = afterInterruption(state, state.interrupted);
    if (step !== null) return step;
  }
  const calls = unansweredCalls(conversation);
  if (calls.length > 0) return { kind: 'calls', calls };
  if (activation.limit !== null) return { kind: 'turn', toolChoice: 'none' };
  if (answer !== null && conversation.openCalls.length === 0) {
    const step = afterLastCall(state, answer);
    if (step !== null) return step;
  }
  const hit = limitHit(state, limits);
  return hit === null ? { kind: 'turn', toolChoice: 'auto' } : { kind: 'limit', hit };
}

/** Returns true if a task does something that can be interrupted: it asks its model, runs calls, or is about to. */
export function isBusy(state: TaskState, limits: StepLimits): boolean {
  return state.interrupted === null && nextStep(state, limits).kind !== 'wait';
}

/** Decides the step after an interruption; null if there is a message, so that the model is asked again. */
function afterInterruption(state: TaskState, reason: string): Step | null {
  const { conversation, openChildren } = state;
  if (unansweredCalls(conversation).length > 0) return { kind: 'close_calls', because: reason };
  if (conversation.queued.some(({ kind }) => kind !== 'notice')) return null;
  if (openChildren.size > 0 || runningShells(state).length > 0) return { kind: 'wait' };
  const order = stopOrder('user', reason);
  return { kind: 'end', ending: endings.endStopped(state, order, { forced: false }) };
}

/** Returns true if the next request only reports ends of children while other children are still running. */
export function reportsEndsOnly({
  openTurn,
  answer,
  conversation: { openCalls, queued },
  openChildren,
}: TaskState): boolean {
  if (openTurn !== null || answer === null || openCalls.length > 0) return false;
  return openChildren.size > 0 && queued.length > 0 && queued.every(isEnd);
}

function isEnd({ kind }: TaskInput): boolean {
  return kind === 'result';
}

/** Decides the step after an answer without calls; null if a message for the model is queued. */
function afterLastCall(state: TaskState, answer: NonNullable<TaskState['answer']>): Step | null {
  const { conversation } = state;
  const { reused } = state;
  if (reused !== null && conversation.queued.length === 0) {
    return { kind: 'end', ending: endings.endReused(reused.of, answer.text) };
  }
  const step = decideAfterCallAsText(state, answer);
  if (step !== null) return step;
  if (conversation.queued.length > 0) return null;
  if (state.openChildren.size > 0) return { kind: 'wait' };
  const shells = runningShells(state);
  if (shells.length > 0) {
    const id = shellsNoticeId(state);
    if (conversation.inputIds.has(id)) return { kind: 'stop_shells', shells };
    return { kind: 'tell', id, text: shellsNotice(shells) };
  }
  const unfinished = decideAfterUnfinishedAnswer(state, answer);
  if (unfinished !== null) return unfinished;
  if (outputSchemaOf(state.spec) !== null) return { kind: 'check', answer: answer.text };
  return { kind: 'end', ending: endings.endCompletedWithReport(state, answer.text) };
}

/** Returns the id of the notice about running shells, which is given once in an activation. */
function shellsNoticeId({ activation }: TaskState): string {
  return `shells-${activation.number}`;
}

function shellsNotice(shells: readonly string[]): string {
  const named = shells.join(', ');
  return `Still running in the background: ${named}. Wait with TaskOutput or end with TaskStop what you need an outcome of; what runs when you answer again is stopped. Then give your final answer.`;
}

function limitHit(state: TaskState, { noProgressCalls }: StepLimits): LimitHit | null {
  const { maxTurns } = state.spec.limits;
  const { conversation, delegations, activation } = state;
  const turns = state.turns - activation.turnsBefore;
  if (maxTurns !== null && turns >= maxTurns) {
    return { limit: 'max_turns', value: maxTurns, used: turns };
  }
  if (delegations.refused !== null && delegations.refusals >= MAX_REFUSED_MESSAGES) {
    return delegations.refused.hit;
  }
  const repeated = countRepeatedCalls(addOpenRound(state.repetition, conversation));
  if (repeated >= noProgressCalls) {
    return { limit: 'no_progress_calls', value: noProgressCalls, used: repeated };
  }
  return findFaultyCallsLimit(state);
}

/**
 * Counts the calls at the end of a task that only repeat earlier ones: the same calls with the same results,
 * in each round or in a cycle of up to four rounds. Returns 0 when the newest round is new.
 *
 * @param rounds the rounds of the task, oldest first
 */
export function countRepeatedCalls(rounds: readonly Round[]): number {
  const newestFirst = rounds.toReversed();
  let most = 0;
  for (let cycle = 1; cycle <= MAX_CYCLE_LENGTH; cycle += 1) {
    const end = newestFirst.findIndex((round, at) => round !== newestFirst[at + cycle]);
    const repeating = Math.max(end, 0);
    // Rounds are a cycle only when they have run through it twice.
    if (repeating < cycle) continue;
    const calls = newestFirst
      .slice(0, repeating + cycle)
      .reduce((sum, { results }) => sum + results.length, 0);
    most = Math.max(most, calls);
  }
  return most;
}

/** The maximum number of answers in a row without text or call before the task ends. */
const MAX_EMPTY_ANSWERS = 3;
/** The maximum number of answers in a row that end with a call written as text. */
const MAX_CALLS_AS_TEXT = 3;
/** The maximum number of answers in a row of which no call could run. */
const MAX_FAULTY_CALLS = 8;
/**
 * The maximum number of answers in a row that are cut off in their text; the model continues after all but the
 * last.
 */
const MAX_CUT_ANSWERS = 4;

/** The step after a malformed answer: a notice for the model, once for each answer, or the end of the task. */
type MalformedResponseStep =
  | { readonly kind: 'tell'; readonly id: string; readonly text: string }
  | { readonly kind: 'end'; readonly ending: TaskEnding };

type Answer = NonNullable<TaskState['answer']>;

/**
 * Decides what follows an answer that ends with a call written as text: the model gets a notice before
 * anything else is done. Returns null if the answer does not end so, or if the model had the notice already.
 */
function decideAfterCallAsText(state: TaskState, { text }: Answer): MalformedResponseStep | null {
  const { callsAsText } = state.activation;
  if (callsAsText === 0) return null;
  const call = findTextCall(text, state.spec.tools);
  if (callsAsText >= MAX_CALLS_AS_TEXT) {
    const ending = endings.endWithCallsAsText(state, callsAsText, call?.form ?? null);
    return { kind: 'end', ending };
  }
  const id = `fault-${state.turns}`;
  if (state.conversation.inputIds.has(id)) return null;
  const told = `You wrote a call of ${call?.tool ?? 'a tool'} as text, and text runs nothing: no tool has run. Call the tool itself, or give your final answer as text. A call that you only mean to show belongs in a code block, with the rest of your answer after it.`;
  return { kind: 'tell', id, text: told };
}

/** Decides what follows a final answer that is empty or was cut off. Returns null if the answer is complete. */
function decideAfterUnfinishedAnswer(
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
function findFaultyCallsLimit({ activation: { faultyCalls } }: TaskState): LimitHit | null {
  if (faultyCalls < MAX_FAULTY_CALLS) return null;
  return { limit: 'faulty_calls', value: MAX_FAULTY_CALLS, used: faultyCalls };
}
