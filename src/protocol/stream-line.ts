import type { ErrorInfo } from '../base/errors.ts';
import type { TaskEvent } from './events/event.ts';
import type { ResultEnvelope } from './result.ts';

/** One line of the output of `--output-format stream-json` and of `muster tasks watch --json`. */
export type StreamLine = TaskEvent | ResultLine | ErrorLine;

/** The line with the result of a task that has ended, or whose process has died. */
export type ResultLine = ResultEnvelope & { readonly type: 'result' };

/** The line about a line of `--input-format stream-json` that could not be used. The run goes on. */
export interface ErrorLine {
  readonly type: 'error';
  /** The number of the input line, from 1. */
  readonly line: number;
  /** The reason why the line could not be used. */
  readonly error: ErrorInfo;
}

export function resultLine(envelope: ResultEnvelope): ResultLine {
  return { type: 'result', ...envelope };
}
