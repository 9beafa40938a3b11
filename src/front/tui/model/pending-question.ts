import type { Question } from '../../../protocol/question.ts';

/** A yes-or-no question of the UI itself, before it does something that the user typed. */
export interface Confirmation {
  readonly kind: 'confirm';
  readonly id: string;
  /** Empty: no task asks it. */
  readonly task: '';
  readonly title: string;
  readonly lines: readonly string[];
}

/** Anything that the user can be asked. */
export type PendingQuestion = Question | Confirmation;

/** Whether a task asks it, and not the UI itself. */
export function isTaskQuestion(question: PendingQuestion | undefined): question is Question {
  return question !== undefined && question.kind !== 'confirm';
}
