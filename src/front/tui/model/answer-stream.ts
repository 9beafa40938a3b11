import type { TaskEvent } from '../../../protocol/events/event.ts';
import { textEnd } from './cut-text.ts';

/** The maximum length of the text of a stream. Its beginning is dropped, because the end is in view. */
const MAX_STREAMED = 64 * 1024;

/** The answer that a task is writing. */
export interface AnswerStream {
  text: string;
  thinking: string;
}

export function emptyStream(): AnswerStream {
  return { text: '', thinking: '' };
}

export function addStreamed(stream: AnswerStream, kind: keyof AnswerStream, text: string): void {
  stream[kind] = textEnd(stream[kind] + text, MAX_STREAMED);
}

/** Whether the answer that was being written is complete, or given up, with an event of its task. */
export function endsAnswer({ type }: TaskEvent): boolean {
  return ANSWER_ENDS.has(type);
}

const ANSWER_ENDS: ReadonlySet<TaskEvent['type']> = new Set([
  'turn.started',
  'turn.ended',
  'turn.retried',
  'turn.failed',
  'task.ended',
]);
