import { newId } from '../../base/ids.ts';

/** Begins the ids of the notices that tell a model of an interruption. */
const NOTICE = 'interrupted-';

export function newInterruptionId(): string {
  return `${NOTICE}${newId()}`;
}

/** Whether it is still to be said when a task goes on after its end: it says why its calls broke off. */
export function isInterruptionNotice(id: string): boolean {
  return id.startsWith(NOTICE);
}
