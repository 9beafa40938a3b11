import { MusterError } from '../../base/errors.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { ChildState } from '../../protocol/state/owned-work.ts';
import type { FanOut } from '../../protocol/template.ts';

/** The part of a run's state that shows its progress. */
export interface ItemTaskStates {
  readonly children: ReadonlyMap<string, Pick<ChildState, 'status'>>;
  readonly items: ReadonlyMap<number, string>;
}

/** A step that remains for an item. `index` is its number, from 0. */
export type ItemStep =
  /** Create its task; `reservedId` is the id that was reserved before a crash, or null. */
  | { readonly kind: 'create'; readonly index: number; readonly reservedId: string | null }
  /** Resume its task, which was stopped. */
  | { readonly kind: 'resume'; readonly index: number; readonly task: string };

/**
 * Returns the remaining steps of a run, decided from its log alone. Items that were reserved before a crash come
 * first, the others in their order. An item that completed, failed or was ended by a limit needs no step, unless
 * it was reopened.
 *
 * @param hasStarted whether a task has a log or runs: one that is only reserved does neither
 */
export function remainingSteps(
  { items }: Pick<FanOut, 'items'>,
  state: ItemTaskStates,
  hasStarted: (task: string) => boolean,
): readonly ItemStep[] {
  const steps = items.flatMap((_, index): readonly ItemStep[] => {
    const task = state.items.get(index);
    if (task === undefined) return [{ kind: 'create', index, reservedId: null }];
    switch (state.children.get(task)?.status) {
      case 'stopped':
      case 'killed':
        return [{ kind: 'resume', index, task }];
      case null:
      case undefined:
        return hasStarted(task) ? [] : [{ kind: 'create', index, reservedId: task }];
      default:
        return [];
    }
  });
  return steps.toSorted((a, b) => Number(isReservedStep(b)) - Number(isReservedStep(a)));
}

/** Returns true for the creation of a task that the log already has as an open child. */
export function isReservedStep(step: ItemStep): boolean {
  return step.kind === 'create' && step.reservedId !== null;
}

/** Returns the indexes of the items whose tasks failed or were ended by a limit. */
export function itemsToRetry(state: ItemTaskStates): readonly number[] {
  return [...state.items].flatMap(([index, task]) => {
    const status = state.children.get(task)?.status;
    return status === 'failed' || status === 'partial' ? [index] : [];
  });
}

/** Throws `INVALID_PARAM` if a message is sent to a template run, which has no conversation that would read it. */
export function requireConversation({ spec }: TaskRun): void {
  if (spec.fanOut === undefined) return;
  const message = `${spec.id} is a run of a template: only its tasks read messages`;
  throw new MusterError('INVALID_PARAM', message);
}

/** Writes to the log that items which failed or were ended by a limit run again. */
export function reopenFailedItems(run: TaskRun): void {
  const items = itemsToRetry(run.state);
  if (items.length > 0) run.journal.record({ type: 'items.reopened', items });
}
