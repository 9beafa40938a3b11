import type { TaskEvent } from './events/event.ts';
import type { ResultEnvelope } from './result.ts';

/** A line of `--output-format stream-json` and of `muster tasks watch --json`. */
export type StreamLine = TaskEvent | ResultLine;

/** The result of a task that has ended, or has lost its process. */
export type ResultLine = ResultEnvelope & { readonly type: 'result' };

export function resultLine(envelope: ResultEnvelope): ResultLine {
  return { type: 'result', ...envelope };
}
