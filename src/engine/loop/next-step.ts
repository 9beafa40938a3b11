import { unansweredCalls } from '../../protocol/state/conversation.ts';
import { runningShells } from '../../protocol/state/owned-work.ts';
import type { TaskInput } from '../../protocol/input.ts';
import type { ToolCallPart } from '../../protocol/message.ts';
import { addOpenRound } from '../../protocol/state/repetition.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';
import { isHalted } from '../task/denials.ts';
import * as endings from '../task/endings.ts';
import type { Ending } from '../task/endings.ts';
import { afterCallAsText, afterUnfinished, malformedCallsHit } from '../turn/malformed-response.ts';
import { repeatedCalls } from '../limits/repeated-calls.ts';
import { stopOrder } from '../task/stop.ts';
import { MAX_REFUSED_MESSAGES } from '../limits/repeated-delegations.ts';
import { outputSchemaOf } from '../task/output-schema.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** What a task does next. */
export type Step =
  | { readonly kind: 'calls'; readonly calls: readonly ToolCallPart[] }
  /** `none`: only an answer is left to give. */
  | { readonly kind: 'turn'; readonly toolChoice: 'auto' | 'none' }
  /** The limit stands against another turn with tools. */
  | { readonly kind: 'limit'; readonly hit: LimitHit }
  /** Something to tell the model; `id` where it is to be told once. */
  | { readonly kind: 'tell'; readonly text: string; readonly id?: string }
  /** For children in the background, or a message. */
  | { readonly kind: 'wait' }
  /** Its context is summarised, and nothing else. */
  | { readonly kind: 'compact'; readonly keep: string | null }
  | { readonly kind: 'stop_shells'; readonly shells: readonly string[] }
  /** Whether the final answer is valid against the output schema decides how it goes on. */
  | { readonly kind: 'check'; readonly answer: string }
  /** A request that was under way when the process died is not sent again. */
  | { readonly kind: 'close_turn'; readonly turn: number; readonly because: string }
  /** Calls that were under way get no other outcome than this. */
  | { readonly kind: 'close_calls'; readonly because: string }
  | { readonly kind: 'end'; readonly ending: Ending };

export interface StepLimits {
  /** Calls that repeat each other before a task is ended. */
  readonly noProgressCalls: number;
}

/**
 * Decided from the state alone, so that a task goes on after a crash with the very step that it would
 * have taken.
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
  if (activation.lastTurn && activation.limit !== null) {
    return { kind: 'end', ending: endings.endedByLimit(state, activation.limit) };
  }
  if (answer?.reason === 'content_filter') return { kind: 'end', ending: endings.filtered(state) };
  if (isHalted(state)) return { kind: 'end', ending: endings.haltedByUser(state) };
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

/** Whether there is something to interrupt: it asks its model, runs calls, or is about to. */
export function isBusy(state: TaskState, limits: StepLimits): boolean {
  return state.interrupted === null && nextStep(state, limits).kind !== 'wait';
}

/** It asks its model again once it is told something; null: it is. */
function afterInterruption(state: TaskState, because: string): Step | null {
  const { conversation, openChildren } = state;
  if (unansweredCalls(conversation).length > 0) return { kind: 'close_calls', because };
  if (conversation.queued.some(({ kind }) => kind !== 'notice')) return null;
  if (openChildren.size > 0 || runningShells(state).length > 0) return { kind: 'wait' };
  const order = stopOrder('user', because);
  return { kind: 'end', ending: endings.stopped(state, order, { forced: false }) };
}

/** Whether the next request is made for ends of children alone, while others are at work. */
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

/** After an answer without calls; null: there is something to tell the model. */
function afterLastCall(state: TaskState, answer: NonNullable<TaskState['answer']>): Step | null {
  const { conversation } = state;
  const { reused } = state;
  if (reused !== null && conversation.queued.length === 0) {
    return { kind: 'end', ending: endings.reused(reused.of, answer.text) };
  }
  const step = afterCallAsText(state, answer);
  if (step !== null) return step;
  if (conversation.queued.length > 0) return null;
  if (state.openChildren.size > 0) return { kind: 'wait' };
  const shells = runningShells(state);
  if (shells.length > 0) {
    const id = shellsNoticeId(state);
    if (conversation.inputIds.has(id)) return { kind: 'stop_shells', shells };
    return { kind: 'tell', id, text: shellsNotice(shells) };
  }
  const unfinished = afterUnfinished(state, answer);
  if (unfinished !== null) return unfinished;
  if (outputSchemaOf(state.spec) !== null) return { kind: 'check', answer: answer.text };
  return { kind: 'end', ending: endings.completedWithReport(state, answer.text) };
}

/** Told once a stint. */
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
  const repeated = repeatedCalls(addOpenRound(state.repetition, conversation));
  if (repeated >= noProgressCalls) {
    return { limit: 'no_progress_calls', value: noProgressCalls, used: repeated };
  }
  return malformedCallsHit(state);
}
