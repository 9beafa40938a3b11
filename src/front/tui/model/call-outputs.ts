import type { TaskEvent } from '../../../protocol/events/event.ts';
import type { TaskSignal } from '../../../protocol/signal.ts';
import { addProgress } from './call-entries.ts';
import { tailWithProgress } from './call-entry.ts';
import type { Transcript } from './transcript.ts';

/** The output of a running call so far. No log holds it before the call ends. */
interface CallOutput {
  readonly task: string;
  readonly callId: string;
  /** The last lines. */
  readonly tail: readonly string[];
}

/** The output of running calls, by task and call. A task that is opened shows it at once. */
export type CallOutputs = Map<string, CallOutput>;

/** The maximum number of running calls whose output is kept. */
const MAX_OUTPUTS = 64;

function outputKey({ task, callId }: Pick<CallOutput, 'task' | 'callId'>): string {
  return `${task}/${callId}`;
}

/** Keeps what a running call has reported, unless the output of too many calls is kept. */
export function keepOutput(
  outputs: CallOutputs,
  { task, callId, ...progress }: Extract<TaskSignal, { type: 'progress' }>,
): void {
  const key = outputKey({ task, callId });
  const known = outputs.get(key);
  if (known === undefined && outputs.size === MAX_OUTPUTS) return;
  outputs.set(key, { task, callId, tail: tailWithProgress(known?.tail ?? [], progress) });
}

/** Forgets the output of a call that has ended, or of all calls of a task that has ended. */
export function forgetOutputs(outputs: CallOutputs, event: TaskEvent): void {
  if (event.type === 'call.ended') outputs.delete(outputKey(event));
  if (event.type !== 'task.ended') return;
  for (const [key, { task }] of outputs) if (task === event.task) outputs.delete(key);
}

/** Adds the kept output to the running calls of a transcript that was read from its log. */
export function showOutputs(outputs: CallOutputs, transcript: Transcript): void {
  for (const { task, callId, tail } of outputs.values()) {
    if (task === transcript.task) addProgress(transcript, callId, { line: '', lines: tail });
  }
}
