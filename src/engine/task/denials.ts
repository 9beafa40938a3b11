import type { TaskState } from '../../protocol/state/task-state.ts';

/** Questions of a child in a row that the user answers with no before it is ended. */
const MOST_DENIALS = 3;

/** Whether the user's denials end it. A main agent hears them from the user and goes on. */
export function isHalted({ spec, activation }: Pick<TaskState, 'spec' | 'activation'>): boolean {
  return spec.parent !== null && activation.denials >= MOST_DENIALS;
}

/** For whoever gets its result. */
export function haltedMessage({ denials }: Pick<TaskState, 'denials'>): string {
  return `the user said no ${MOST_DENIALS} times in a row, the last time to ${denials.at(-1) ?? 'a call'}`;
}
