import { findTextCall } from '../text-calls/call-as-text.ts';
import type { Conversation } from './conversation.ts';
import { addAnswerText } from './earlier-report.ts';
import type { TaskEvent } from '../events/event.ts';
import type { AnswerFault, ModelFault } from '../fault.ts';
import { messageText, toolCalls } from '../message.ts';
import type { Activation } from './activation.ts';
import type { TaskSpec } from '../task.ts';

/** The part of a task's state that counts faults, and the parts that this count depends on. */
export interface FaultState {
  readonly spec: Pick<TaskSpec, 'tools'>;
  readonly conversation: Conversation;
  readonly activation: Activation;
  /** The number of faults of each kind, in the order of their first occurrence. */
  readonly faults: Map<ModelFault, number>;
}

/** Counts the faults that an event reports, and the number of faulty answers in a row. */
export function applyToFaults(state: FaultState, event: TaskEvent): void {
  switch (event.type) {
    case 'turn.retried':
    case 'turn.failed':
      if (event.failure.kind !== 'cancelled') countFault(state, event.failure.kind);
      return;
    case 'turn.started':
      // A request without the notice to continue a cut answer begins a new answer.
      if (!event.inputs.some(isContinuationNotice)) resetCutAnswer(state.activation);
      return;
    case 'turn.ended':
      applyAnswer(state, event);
      return;
    case 'call.started':
      state.activation.faultyCalls = 0;
      state.activation.hasRunCall = true;
      return;
    case 'call.refused':
      applyRefusal(state, event);
      return;
    default:
  }
}

function countFault({ faults }: FaultState, fault: ModelFault): void {
  faults.set(fault, (faults.get(fault) ?? 0) + 1);
}

function applyAnswer(
  state: FaultState,
  { message, reason }: Extract<TaskEvent, { type: 'turn.ended' }>,
): void {
  const { activation } = state;
  const calls = toolCalls(message);
  activation.hasRunCall = false;
  activation.hasFaultyCall = false;
  for (const call of calls) {
    if (call.renamed === true) countFault(state, 'duplicate_call_id');
    if (call.malformed === undefined) continue;
    const isCut = reason === 'length' && call === calls.at(-1);
    countFault(state, isCut ? 'cut_call' : 'broken_arguments');
  }
  const text = messageText(message);
  const isEmpty = text.trim() === '';
  // An answer that continues a cut answer is examined together with it.
  const fullText = `${activation.cutText}${text}`;
  const isCallAsText =
    calls.length === 0 && !isEmpty && findTextCall(fullText, state.spec.tools) !== null;
  // A call that is written as text is not a report.
  activation.texts = addAnswerText(
    activation.texts,
    isCallAsText ? '' : fullText,
    activation.cutText === '' ? 'next' : 'continued',
  );
  if (isCallAsText) {
    activation.callsAsText += 1;
    countFault(state, 'call_as_text');
  } else if (!isEmpty || calls.length > 0) activation.callsAsText = 0;
  if (calls.length > 0) {
    resetCutAnswer(activation);
    return;
  }
  if (!isEmpty && !isCallAsText) activation.faultyCalls = 0;
  if (reason === 'length') countFault(state, 'cut_answer');
  else if (isEmpty) countFault(state, 'empty_answer');
  if (reason !== 'length' || (isEmpty && activation.cutText === '')) return;
  activation.cutAnswers += 1;
  activation.cutText += text;
}

function resetCutAnswer(activation: Activation): void {
  activation.cutAnswers = 0;
  activation.cutText = '';
}

const CONTINUATION_NOTICE_PREFIX = 'go-on-';

/** Returns the id of the notice that asks a model to continue the cut answer of a turn. */
export function continuationNoticeId(turn: number): string {
  return `${CONTINUATION_NOTICE_PREFIX}${turn}`;
}

function isContinuationNotice(input: string): boolean {
  return input.startsWith(CONTINUATION_NOTICE_PREFIX);
}

/** Counts a refused call. An answer is faulty only if none of its calls has run. */
function applyRefusal(
  state: FaultState,
  { callId, error, decision, repeated }: Extract<TaskEvent, { type: 'call.refused' }>,
): void {
  const fault =
    repeated === true
      ? 'repeated_call'
      : classifyRefusal(error, { isUnknown: decision?.step === 'tool_set' });
  if (fault === null) return;
  const call = state.conversation.openCalls.find(({ id }) => id === callId);
  // Arguments that are not JSON were already counted when the answer ended.
  if (call?.malformed === undefined) countFault(state, fault);
  const { activation } = state;
  if (activation.hasRunCall || activation.hasFaultyCall) return;
  activation.hasFaultyCall = true;
  activation.faultyCalls += 1;
}

/** Returns the fault that caused a refusal; null: the refusal was not caused by a fault of the model. */
function classifyRefusal(
  error: string,
  { isUnknown }: { readonly isUnknown: boolean },
): AnswerFault | null {
  if (isUnknown) return 'unknown_tool';
  if (error === 'INVALID_PARAM') return 'invalid_arguments';
  return error === 'LIMIT_EXCEEDED' ? 'too_many_calls' : null;
}
