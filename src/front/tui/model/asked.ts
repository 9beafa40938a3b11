import type { Question } from '../../../protocol/question.ts';

/** What the UI itself asks before it does what a person has typed. */
export interface Confirmation {
  readonly kind: 'confirm';
  readonly id: string;
  /** Of no task. */
  readonly task: '';
  readonly title: string;
  readonly lines: readonly string[];
}

/** All that a person can be asked. */
export type Asked = Question | Confirmation;

/** Whether a task asks it. */
export function isOfTask(asked: Asked | undefined): asked is Question {
  return asked !== undefined && asked.kind !== 'confirm';
}
