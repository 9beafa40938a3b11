import { unansweredCalls } from '../../protocol/state/conversation.ts';
import {
  runningCommands,
  runningRemoteWork,
  runningShells,
} from '../../protocol/state/owned-work.ts';
import type { TaskInput } from '../../protocol/input.ts';
import type { ToolCallPart } from '../../protocol/message.ts';
import { addOpenRound, MAX_CYCLE_LENGTH, type CallRound } from '../../protocol/state/repetition.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';
import { isEndedByDenials } from '../../policy/decide-question.ts';
import { decideAcceptance, type AcceptanceStep } from '../acceptance/decide-acceptance.ts';
import * as endings from '../task/endings.ts';
import type { TaskEnding } from '../task/endings.ts';
import { stopOrder } from '../task/stop-order.ts';
import { MAX_REFUSED_MESSAGES } from '../delegation/repeated-delegations.ts';
import { outputSchemaOf } from '../task/output-schema.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import { findTextCall } from '../../protocol/text-calls/call-as-text.ts';
import { continuationNoticeId } from '../../protocol/state/faults.ts';
import type { OutputCap } from '../../protocol/output-cap.ts';
import { lastTurnNotice, limitMessage, roundAmount } from '../limits/limit-message.ts';
import { findTimeLimit, lastAnswerMs } from '../task/wall-time.ts';

/** The next step of a task. */
export type Step =
  /** Run the calls of the newest answer. */
  | { readonly kind: 'calls'; readonly calls: readonly ToolCallPart[] }
  /** Send a request. The tool choice is `none` if the model may only give its final answer. */
  | { readonly kind: 'turn'; readonly toolChoice: 'auto' | 'none' }
  /** Report a limit that allows no further turn with tools. */
  | { readonly kind: 'limit'; readonly hit: LimitHit }
  /** Queue a notice for the model. It has an `id` if it must be queued only once. */
  | { readonly kind: 'notice'; readonly text: string; readonly id?: string }
  /** Wait for children in the background, or for a message. */
  | { readonly kind: 'wait' }
  /** Summarize the context and do nothing else. */
  | { readonly kind: 'compact'; readonly keep: string | null }
  /** Stop background shells. `notify`: true if the model reads about each end. */
  | { readonly kind: 'stop_shells'; readonly shells: readonly string[]; readonly notify: boolean }
  /** Check the work of the task, or continue after a check that it has not passed. */
  | AcceptanceStep
  /** Check the final answer against the output schema. */
  | { readonly kind: 'check'; readonly answer: string }
  /** Close a turn whose request was interrupted. The request is not sent again. */
  | { readonly kind: 'close_turn'; readonly turn: number; readonly because: string }
  /** Close the calls that were interrupted. */
  | { readonly kind: 'close_calls'; readonly because: string }
  | { readonly kind: 'end'; readonly ending: TaskEnding };

/** The configured limits that `nextStep` checks. */
interface StepLimits {
  /** The number of repeated calls at which a task is ended. */
  readonly noProgressCalls: number;
}

/**
 * Decides the next step of a task. The decision depends only on the state and the settings, so that a task continues
 * after a crash with the same step as without the crash.
 */
export function nextStep(state: TaskState, limits: StepLimits): Step {
  const { openTurn, activation, answer, conversation } = state;
  const { compacts } = activation;
  if (compacts !== null) {
    if (!activation.hasCompacted) return { kind: 'compact', keep: compacts.keep };
    return { kind: 'end', ending: { end: compacts.end, result: compacts.result } };
  }
  const timeLimit = findTimeLimit(state);
  if (openTurn !== null) {
    const { turn, toolChoice } = openTurn;
    const isOverdue = timeLimit !== null && toolChoice === 'auto';
    const because = state.interrupted ?? (isOverdue ? limitMessage(timeLimit) : null);
    return because === null ? { kind: 'turn', toolChoice } : { kind: 'close_turn', turn, because };
  }
  if (activation.hasLastTurnBegun && activation.limit !== null) {
    return { kind: 'end', ending: endings.endByLimit(state, activation.limit) };
  }
  if (answer?.reason === 'content_filter')
    return { kind: 'end', ending: endings.endFiltered(state) };
  if (isEndedByDenials(state)) return { kind: 'end', ending: endings.endHaltedByUser(state) };
  if (state.interrupted !== null) {
    const step = decideAfterInterruption(state, state.interrupted);
    if (step !== null) return step;
  }
  if (timeLimit !== null) {
    const step = decideAfterTimeLimit(state, timeLimit);
    if (step !== null) return step;
  }
  const calls = unansweredCalls(conversation);
  if (calls.length > 0) return { kind: 'calls', calls };
  if (conversation.unsent !== null && hasNothingToSend(state))
    return { kind: 'end', ending: endings.endUnsent(state, conversation.unsent) };
  if (activation.limit !== null) return { kind: 'turn', toolChoice: 'none' };
  if (answer !== null && conversation.openCalls.length === 0) {
    const step = decideAfterAnswer(state, answer);
    if (step !== null) return step;
  }
  const hit = findStepLimit(state, limits);
  return hit === null ? { kind: 'turn', toolChoice: 'auto' } : { kind: 'limit', hit };
}

/** Tells whether a step ends a task that has completed its work, or would do so. */
export function completesWork(step: Step): boolean {
  if (step.kind === 'check') return true;
  return step.kind === 'end' && step.ending.end.status === 'completed';
}

/** Returns true if a task can be interrupted: it sends a request, runs calls, or is about to do so. */
export function isBusy(state: TaskState, limits: StepLimits): boolean {
  return state.interrupted === null && nextStep(state, limits).kind !== 'wait';
}

/** Decides the step after an interruption. Returns null if a message is queued, so that the model is asked again. */
function decideAfterInterruption(state: TaskState, reason: string): Step | null {
  const { conversation, openChildren } = state;
  if (unansweredCalls(conversation).length > 0) return { kind: 'close_calls', because: reason };
  if (conversation.queued.some(({ kind }) => kind !== 'notice')) return null;
  if (openChildren.size > 0 || runningShells(state).length > 0) return { kind: 'wait' };
  const order = stopOrder('user', reason);
  return { kind: 'end', ending: endings.endStopped(state, order, { forced: false }) };
}

/** Decides the step after the time of the tree is used up. Returns null if everything has ended, for the last turn. */
function decideAfterTimeLimit(state: TaskState, limit: LimitHit): Step | null {
  if (unansweredCalls(state.conversation).length > 0)
    return { kind: 'close_calls', because: limitMessage(limit) };
  const shells = runningShells(state);
  if (shells.length > 0) return { kind: 'stop_shells', shells, notify: true };
  if (state.openChildren.size > 0) return { kind: 'wait' };
  const id = `time-${state.activation.number}`;
  if (state.conversation.inputIds.has(id)) return null;
  const seconds = lastAnswerMs(limit.value * 1000) / 1000;
  const text = `${lastTurnNotice(limit)} It must be complete within ${seconds} s.`;
  return { kind: 'notice', id, text };
}

/** Tells whether the next request would contain nothing new, and no work of the task will end either. */
function hasNothingToSend(state: TaskState): boolean {
  const { openCalls, queued } = state.conversation;
  const isWorking = state.openChildren.size > 0 || runningShells(state).length > 0;
  return openCalls.length === 0 && queued.length === 0 && !isWorking;
}

/** Returns true if the next request would only report ends of children while other children are still running. */
export function reportsEndsOnly({
  openTurn,
  answer,
  conversation: { openCalls, queued },
  openChildren,
}: TaskState): boolean {
  if (openTurn !== null || answer === null || openCalls.length > 0) return false;
  return openChildren.size > 0 && queued.length > 0 && queued.every(isChildEnd);
}

function isChildEnd({ kind }: TaskInput): boolean {
  return kind === 'result';
}

/** Decides the step after an answer without open calls. Returns null if the model has to be asked again. */
function decideAfterAnswer(state: TaskState, answer: Answer): Step | null {
  const { conversation } = state;
  const { reused } = state;
  if (reused !== null && conversation.queued.length === 0) {
    return { kind: 'end', ending: endings.endReused(reused.of, answer.text) };
  }
  const step = decideAfterCallAsText(state, answer);
  if (step !== null) return step;
  if (conversation.queued.length > 0) return null;
  if (state.openChildren.size > 0) return { kind: 'wait' };
  // Work of a server ends by itself, and the task is told about it.
  if (runningRemoteWork(state).length > 0) return { kind: 'wait' };
  const shells = runningCommands(state);
  if (shells.length > 0) {
    const id = toShellsNoticeId(state);
    if (conversation.inputIds.has(id)) return { kind: 'stop_shells', shells, notify: false };
    return { kind: 'notice', id, text: formatShellsNotice(shells) };
  }
  const unfinished = decideAfterUnfinishedAnswer(state, answer);
  if (unfinished !== null) return unfinished;
  const acceptance = decideAcceptance(state);
  if (acceptance !== null) return acceptance;
  if (outputSchemaOf(state.spec) !== null) return { kind: 'check', answer: answer.text };
  return { kind: 'end', ending: endings.endCompletedWithReport(state, answer.text) };
}

/** Returns the id of the notice about running shells, which is queued once in each activation. */
function toShellsNoticeId({ activation }: TaskState): string {
  return `shells-${activation.number}`;
}

function formatShellsNotice(shells: readonly string[]): string {
  const named = shells.join(', ');
  return `Still running in the background: ${named}. Wait with TaskOutput or end with TaskStop what you need an outcome of; what runs when you answer again is stopped. Then give your final answer.`;
}

/** Returns the limit that allows no further turn with tools, or null. */
function findStepLimit(state: TaskState, { noProgressCalls }: StepLimits): LimitHit | null {
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
 * Counts the newest calls of a task that only repeat earlier calls: the same calls with the same results, in each round
 * or in a cycle of up to `MAX_CYCLE_LENGTH` rounds. Returns 0 if the newest round repeats nothing.
 *
 * @param rounds the rounds of the task, the oldest first
 */
export function countRepeatedCalls(rounds: readonly CallRound[]): number {
  const newestFirst = rounds.toReversed();
  let highest = 0;
  for (let cycle = 1; cycle <= MAX_CYCLE_LENGTH; cycle += 1) {
    const firstDifference = newestFirst.findIndex((round, at) => round !== newestFirst[at + cycle]);
    const repeating = Math.max(firstDifference, 0);
    // Rounds form a cycle only if all of them have occurred twice.
    if (repeating < cycle) continue;
    const calls = newestFirst
      .slice(0, repeating + cycle)
      .reduce((sum, { results }) => sum + results.length, 0);
    highest = Math.max(highest, calls);
  }
  return highest;
}

/** The number of answers in a row without text and calls at which the task ends. */
const MAX_EMPTY_ANSWERS = 3;
/** The number of answers in a row that end with a call written as text at which the task ends. */
const MAX_ANSWERS_WITH_TEXT_CALL = 3;
/** The number of answers in a row whose calls could all not run at which the task ends. */
const MAX_FAULTY_ANSWERS = 8;
/** The number of answers in a row that were cut off at which the task ends. Until then the model continues its text. */
const MAX_CUT_ANSWERS = 4;

/** The step after a malformed answer: a notice for the model, or the end of the task. */
type MalformedResponseStep =
  | { readonly kind: 'notice'; readonly id: string; readonly text: string }
  | { readonly kind: 'end'; readonly ending: TaskEnding };

type Answer = NonNullable<TaskState['answer']>;

/**
 * Decides the step after an answer that ends with a call written as text: the model gets a notice before anything else
 * happens. Returns null after any other answer, or if the model already got the notice.
 */
function decideAfterCallAsText(state: TaskState, { text }: Answer): MalformedResponseStep | null {
  const { callsAsText } = state.activation;
  if (callsAsText === 0) return null;
  const call = findTextCall(text, state.spec.tools);
  if (callsAsText >= MAX_ANSWERS_WITH_TEXT_CALL) {
    const ending = endings.endWithCallsAsText(state, callsAsText, call?.form ?? null);
    return { kind: 'end', ending };
  }
  const id = `fault-${state.turns}`;
  if (state.conversation.inputIds.has(id)) return null;
  const notice = `You wrote a call of ${call?.tool ?? 'a tool'} as text, and text runs nothing: no tool has run. Call the tool itself, or give your final answer as text. A call that you only mean to show belongs in a code block, with the rest of your answer after it.`;
  return { kind: 'notice', id, text: notice };
}

/** Decides the step after a final answer that is empty or was cut off. Returns null if the answer is complete. */
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
    return { kind: 'notice', id, text: formatEmptyNotice(reason, cut) };
  }
  if (reason !== 'length') return null;
  if (cutAnswers >= MAX_CUT_ANSWERS) {
    if (cut !== undefined) return { kind: 'end', ending: endings.endByOutputCap(state, cut) };
    return { kind: 'end', ending: endings.endCutOff(text, cutAnswers) };
  }
  return { kind: 'notice', id: continuationNoticeId(state.turns), text: formatCutNotice(cut) };
}

function formatEmptyNotice(reason: Answer['reason'], cut: OutputCap | undefined): string {
  if (reason !== 'length') return NO_ANSWER;
  return cut === undefined ? NOTHING_COMPLETE : `${formatOutputCap(cut)} ${SEND_LESS}`;
}

function formatCutNotice(cut: OutputCap | undefined): string {
  return cut === undefined ? CONTINUE : `${formatOutputCap(cut)} ${CONTINUE_BRIEFLY}`;
}

function formatOutputCap({ tokens, limit, value, used }: OutputCap): string {
  return `Your answer was cut off after ${tokens} tokens: the limit ${limit} = ${value} (${roundAmount(used)} used) allows no longer answer.`;
}

const SEND_LESS =
  'Nothing of it arrived, since no text or call of it was whole. Send less at once, and come to the end soon.';
const CONTINUE_BRIEFLY =
  'Go on with it exactly where it stopped, and come to its end soon: no introduction, nothing said again.';
const NO_ANSWER = 'Your answer was empty. Go on with the task, or give your final answer as text.';
const NOTHING_COMPLETE =
  'Your answer reached your output limit before any text or call of it was whole, so nothing of it arrived. Send less at once: a long text in several calls, one part each.';
const CONTINUE =
  'Your answer was cut off at your output limit. Go on with it exactly where it stopped: no introduction, nothing said again.';

/** Returns the limit on answers whose calls could all not run, if it is reached. */
function findFaultyCallsLimit({ activation: { faultyCalls } }: TaskState): LimitHit | null {
  if (faultyCalls < MAX_FAULTY_ANSWERS) return null;
  return { limit: 'faulty_calls', value: MAX_FAULTY_ANSWERS, used: faultyCalls };
}
