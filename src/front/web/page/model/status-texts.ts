import { SPAN_NAMES } from '../../../../report/span.ts';
import type { TaskRow } from '../../wire.ts';

/** The looks of a status: each is a shape and a color, so that color alone says nothing. */
export type StatusLook = 'work' | 'queue' | 'wait' | 'good' | 'part' | 'bad' | 'off';

const LOOKS: Readonly<Record<TaskRow['status'], StatusLook>> = {
  queued: 'queue',
  running: 'work',
  parked: 'wait',
  completed: 'good',
  partial: 'part',
  failed: 'bad',
  stopped: 'off',
  killed: 'bad',
  interrupted: 'part',
};

/** Returns the look of a task's status. A task at work that waits for a person looks as if it were parked. */
export function findStatusLook({
  status,
  questions,
}: Pick<TaskRow, 'status' | 'questions'>): StatusLook {
  return questions.length > 0 && status === 'running' ? 'wait' : LOOKS[status];
}

/** Describes what a task does now in a few words; its status if it does nothing that lasts. */
export function describeActivity({ status, doing }: Pick<TaskRow, 'status' | 'doing'>): string {
  if (doing === null) return status;
  const { kind, detail } = doing;
  if (kind === 'tool' && detail !== '') return detail;
  return kind === 'person' ? 'waits for you' : SPAN_NAMES[kind];
}

/** Returns true if the task has not ended. */
export function isActiveTask({ status }: Pick<TaskRow, 'status'>): boolean {
  return status === 'running' || status === 'queued' || status === 'parked';
}
