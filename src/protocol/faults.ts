import { callAsText } from './call-as-text.ts';
import type { Conversation } from './conversation.ts';
import { addText } from './earlier-report.ts';
import type { TaskEvent } from './event.ts';
import type { AnswerFault, Fault } from './fault.ts';
import { messageText, toolCalls } from './message.ts';
import type { Stint } from './stint.ts';
import type { TaskSpec } from './task.ts';

/** The part of a task's state that its faults are counted in. */
export interface Faulty {
  readonly spec: Pick<TaskSpec, 'tools'>;
  readonly conversation: Conversation;
  readonly stint: Stint;
  /** How often each was seen, in the order in which they first were. */
  readonly faults: Map<Fault, number>;
}

/** Counts what the event tells of, and how many faulty answers came in a row. */
export function applyToFaults(state: Faulty, event: TaskEvent): void {
  switch (event.type) {
    case 'turn.retried':
    case 'turn.failed':
      if (event.failure.kind !== 'cancelled') count(state, event.failure.kind);
      return;
    case 'turn.started':
      // Only what goes on from a cut answer belongs to it.
      if (!event.inputs.some(isGoOnNotice)) forgetCut(state.stint);
      return;
    case 'turn.ended':
      applyAnswer(state, event);
      return;
    case 'call.started':
      state.stint.faultyCalls = 0;
      state.stint.answerRan = true;
      return;
    case 'call.refused':
      applyRefusal(state, event);
      return;
    default:
  }
}

function count({ faults }: Faulty, fault: Fault): void {
  faults.set(fault, (faults.get(fault) ?? 0) + 1);
}

function applyAnswer(
  state: Faulty,
  { message, reason }: Extract<TaskEvent, { type: 'turn.ended' }>,
): void {
  const { stint } = state;
  const calls = toolCalls(message);
  stint.answerRan = false;
  stint.answerFaulty = false;
  for (const call of calls) {
    if (call.renamed === true) count(state, 'duplicate_call_id');
    if (call.malformed === undefined) continue;
    const isCut = reason === 'length' && call === calls.at(-1);
    count(state, isCut ? 'cut_call' : 'broken_arguments');
  }
  const text = messageText(message);
  const isEmpty = text.trim() === '';
  // Of an answer that was cut off and gone on from, the whole.
  const whole = `${stint.cutText}${text}`;
  const isText = calls.length === 0 && !isEmpty && callAsText(whole, state.spec.tools) !== null;
  // A call is no report.
  stint.texts = addText(
    stint.texts,
    isText ? '' : whole,
    stint.cutText === '' ? 'next' : 'continued',
  );
  if (isText) stint.callsAsText += 1;
  else if (!isEmpty || calls.length > 0) stint.callsAsText = 0;
  if (isText) count(state, 'call_as_text');
  if (calls.length > 0) {
    forgetCut(stint);
    return;
  }
  if (!isEmpty && !isText) stint.faultyCalls = 0;
  if (reason === 'length') count(state, 'cut_answer');
  else if (isEmpty) count(state, 'empty_answer');
  if (reason !== 'length' || (isEmpty && stint.cutText === '')) return;
  stint.cutAnswers += 1;
  stint.cutText += text;
}

function forgetCut(stint: Stint): void {
  stint.cutAnswers = 0;
  stint.cutText = '';
}

const GO_ON_NOTICE = 'go-on-';

/** The id of the notice that asks a model to go on from the cut answer of that turn. */
export function goOnNotice(turn: number): string {
  return `${GO_ON_NOTICE}${turn}`;
}

function isGoOnNotice(input: string): boolean {
  return input.startsWith(GO_ON_NOTICE);
}

/** Answers are counted, not calls: one whose other calls ran was of use. */
function applyRefusal(
  state: Faulty,
  { callId, error, decision, repeated }: Extract<TaskEvent, { type: 'call.refused' }>,
): void {
  const fault = repeated === true ? 'repeated_call' : faultOf(error, decision?.step === 'tool_set');
  if (fault === null) return;
  const call = state.conversation.openCalls.find(({ id }) => id === callId);
  // What is no JSON was counted with its answer.
  if (call?.malformed === undefined) count(state, fault);
  const { stint } = state;
  if (stint.answerRan || stint.answerFaulty) return;
  stint.answerFaulty = true;
  stint.faultyCalls += 1;
}

function faultOf(error: string, isUnknown: boolean): AnswerFault | null {
  if (isUnknown) return 'unknown_tool';
  if (error === 'INVALID_PARAM') return 'invalid_arguments';
  return error === 'LIMIT_EXCEEDED' ? 'too_many_calls' : null;
}
