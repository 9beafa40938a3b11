import { findTextCall } from '../text-calls/call-as-text.ts';
import type { Conversation } from './conversation.ts';
import { addAnswerText } from './earlier-report.ts';
import type { TaskEvent } from '../events/event.ts';
import type { AnswerFault, ModelFault } from '../fault.ts';
import { messageText, toolCalls } from '../message.ts';
import type { Activation } from './activation.ts';
import type { TaskSpec } from '../task.ts';

/** The part of a task's state in which its faults are counted. */
export interface Faulty {
  readonly spec: Pick<TaskSpec, 'tools'>;
  readonly conversation: Conversation;
  readonly activation: Activation;
  /** The number of each fault, in the order of their first occurrence. */
  readonly faults: Map<ModelFault, number>;
}

/** Counts the faults that an event reports, and the faulty answers in a row. */
export function applyToFaults(state: Faulty, event: TaskEvent): void {
  switch (event.type) {
    case 'turn.retried':
    case 'turn.failed':
      if (event.failure.kind !== 'cancelled') count(state, event.failure.kind);
      return;
    case 'turn.started':
      // Only a request to continue a cut answer belongs to that answer.
      if (!event.inputs.some(isGoOnNotice)) forgetCut(state.activation);
      return;
    case 'turn.ended':
      applyAnswer(state, event);
      return;
    case 'call.started':
      state.activation.faultyCalls = 0;
      state.activation.answerRan = true;
      return;
    case 'call.refused':
      applyRefusal(state, event);
      return;
    default:
  }
}

function count({ faults }: Faulty, fault: ModelFault): void {
  faults.set(fault, (faults.get(fault) ?? 0) + 1);
}

function applyAnswer(
  state: Faulty,
  { message, reason }: Extract<TaskEvent, { type: 'turn.ended' }>,
): void {
  const { activation } = state;
  const calls = toolCalls(message);
  activation.answerRan = false;
  activation.answerFaulty = false;
  for (const call of calls) {
    if (call.renamed === true) count(state, 'duplicate_call_id');
    if (call.malformed === undefined) continue;
    const isCut = reason === 'length' && call === calls.at(-1);
    count(state, isCut ? 'cut_call' : 'broken_arguments');
  }
  const text = messageText(message);
  const isEmpty = text.trim() === '';
  // An answer that continues a cut one is judged together with it.
  const full = `${activation.cutText}${text}`;
  const isText = calls.length === 0 && !isEmpty && findTextCall(full, state.spec.tools) !== null;
  // A call in the text is no report.
  activation.texts = addAnswerText(
    activation.texts,
    isText ? '' : full,
    activation.cutText === '' ? 'next' : 'continued',
  );
  if (isText) {
    activation.callsAsText += 1;
    count(state, 'call_as_text');
  } else if (!isEmpty || calls.length > 0) activation.callsAsText = 0;
  if (calls.length > 0) {
    forgetCut(activation);
    return;
  }
  if (!isEmpty && !isText) activation.faultyCalls = 0;
  if (reason === 'length') count(state, 'cut_answer');
  else if (isEmpty) count(state, 'empty_answer');
  if (reason !== 'length' || (isEmpty && activation.cutText === '')) return;
  activation.cutAnswers += 1;
  activation.cutText += text;
}

function forgetCut(activation: Activation): void {
  activation.cutAnswers = 0;
  activation.cutText = '';
}

const GO_ON_NOTICE = 'go-on-';

/** Returns the id of the notice that asks a model to continue the cut answer of a turn. */
export function continuationNoticeId(turn: number): string {
  return `${GO_ON_NOTICE}${turn}`;
}

function isGoOnNotice(input: string): boolean {
  return input.startsWith(GO_ON_NOTICE);
}

/** Counts a refused call. An answer is faulty only if none of its calls has run. */
function applyRefusal(
  state: Faulty,
  { callId, error, decision, repeated }: Extract<TaskEvent, { type: 'call.refused' }>,
): void {
  const fault = repeated === true ? 'repeated_call' : faultOf(error, decision?.step === 'tool_set');
  if (fault === null) return;
  const call = state.conversation.openCalls.find(({ id }) => id === callId);
  // Arguments that are not JSON were already counted with the answer.
  if (call?.malformed === undefined) count(state, fault);
  const { activation } = state;
  if (activation.answerRan || activation.answerFaulty) return;
  activation.answerFaulty = true;
  activation.faultyCalls += 1;
}

function faultOf(error: string, isUnknown: boolean): AnswerFault | null {
  if (isUnknown) return 'unknown_tool';
  if (error === 'INVALID_PARAM') return 'invalid_arguments';
  return error === 'LIMIT_EXCEEDED' ? 'too_many_calls' : null;
}
