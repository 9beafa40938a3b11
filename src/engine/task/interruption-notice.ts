import { newId } from '../../base/ids.ts';

/** The prefix of the ids of notices about an interruption. */
const NOTICE = 'interrupted-';

/** Creates the id of a notice about an interruption. */
export function newInterruptionId(): string {
  return `${NOTICE}${newId()}`;
}

/**
 * Returns true for the id of a notice about an interruption. Such a notice is still delivered when a task is
 * resumed after its end, since it says why calls were cut off.
 */
export function isInterruptionNotice(id: string): boolean {
  return id.startsWith(NOTICE);
}
