import type { FailureKind } from './model.ts';

/** A fault of a complete answer. */
export type AnswerFault =
  /** No text and no call. */
  | 'empty_answer'
  /** Ended by the model's output limit: in its text, or before there was any. */
  | 'cut_answer'
  /** The same, inside the arguments of its last call. */
  | 'cut_call'
  /** A call written as text. */
  | 'call_as_text'
  /** Arguments that are no JSON. */
  | 'broken_arguments'
  /** Arguments that the tool does not take. */
  | 'invalid_arguments'
  | 'unknown_tool'
  /** Two calls of one answer under one id. */
  | 'duplicate_call_id'
  /** More calls in one answer than run. */
  | 'too_many_calls'
  /** One call more often in a row than it runs. */
  | 'repeated_call';

/** A fault between a task and its model: a failed request, or a faulty answer. */
export type ModelFault = Exclude<FailureKind, 'cancelled'> | AnswerFault;
