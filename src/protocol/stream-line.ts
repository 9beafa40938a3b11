import type { TaskEvent } from './events/event.ts';
import type { ResultEnvelope } from './result.ts';

/** One line of the output of `--output-format stream-json` and of `muster tasks watch --json`. */
export type StreamLine = TaskEvent | ResultLine;

/** The line with the result of a task that has ended, or whose process has died. */
export type ResultLine = ResultEnvelope & { readonly type: 'result' };

export function resultLine(envelope: ResultEnvelope): ResultLine {
  return { type: 'result', ...envelope };
}
