import type { FailureKind } from './model.ts';

/** A fault of a complete answer. */
export type AnswerFault =
  /** The answer has no text and no call. */
  | 'empty_answer'
  /** The output limit of the model ended the answer in its text, or before it had any text. */
  | 'cut_answer'
  /** The output limit of the model ended the answer inside the arguments of its last call. */
  | 'cut_call'
  /** The answer contains a tool call written as text. */
  | 'call_as_text'
  /** The arguments of a call are not JSON. */
  | 'broken_arguments'
  /** The tool does not accept the arguments. */
  | 'invalid_arguments'
  | 'unknown_tool'
  /** Two calls of the answer have the same id. */
  | 'duplicate_call_id'
  /** The answer has more calls than may run. */
  | 'too_many_calls'
  /** The same call was made too often in a row. */
  | 'repeated_call';

/** A fault between a task and its model: a failed request, or a faulty answer. */
export type ModelFault = Exclude<FailureKind, 'cancelled'> | AnswerFault;
