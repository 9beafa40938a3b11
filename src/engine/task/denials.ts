import type { TaskState } from '../../protocol/state/task-state.ts';

/** The number of denials in a row after which a child is ended. */
const MOST_DENIALS = 3;

/** Returns true when the user's denials end the task. A main agent goes on, since it talks to the user. */
export function isHalted({ spec, activation }: Pick<TaskState, 'spec' | 'activation'>): boolean {
  return spec.parent !== null && activation.denials >= MOST_DENIALS;
}

/** Says for the task's result that the user's denials ended it. */
export function haltedMessage({ denials }: Pick<TaskState, 'denials'>): string {
  return `the user said no ${MOST_DENIALS} times in a row, the last time to ${denials.at(-1) ?? 'a call'}`;
}
