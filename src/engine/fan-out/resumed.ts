import { MusterError } from '../../base/errors.ts';
import type { TaskRun } from '../task/task-run.ts';
import { itemsToRetry } from './left.ts';

/** Throws for words to a run of a template, which nobody would read. */
export function requireConversation({ spec }: TaskRun): void {
  if (spec.fanOut === undefined) return;
  const message = `${spec.id} is a run of a template: only its tasks read messages`;
  throw new MusterError('INVALID_PARAM', message);
}

/** Writes down that items which failed, or were ended by a limit, are to be done again. */
export function reopenFailed(run: TaskRun): void {
  const items = itemsToRetry(run.state);
  if (items.length > 0) run.journal.record({ type: 'items.reopened', items });
}
