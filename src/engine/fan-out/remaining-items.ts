import { MusterError } from '../../base/errors.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { ChildState } from '../../protocol/state/owned-work.ts';
import { countItemTasks, type FanOut } from '../../protocol/template.ts';

/** The parts of a template run's state that show its progress. */
export interface ItemTaskStates {
  /** The states of the tasks by id. */
  readonly children: ReadonlyMap<string, Pick<ChildState, 'status'>>;
  /** The ids of the items' tasks by their number in the run, from 0. */
  readonly items: ReadonlyMap<number, string>;
}

/** A step that remains for the task of an item. `index` is the number of the task in the run, from 0. */
export type ItemStep =
  /** Create the task of the item. `reservedId` is the id that was reserved before a crash, or null. */
  | { readonly kind: 'create'; readonly index: number; readonly reservedId: string | null }
  /** Resume the task of the item, which was stopped. */
  | { readonly kind: 'resume'; readonly index: number; readonly task: string };

/**
 * Lists the remaining steps of a template run. Items whose tasks were reserved before a crash come first, and the
 * others follow in their order. An item that completed, failed or was ended by a limit needs no step, unless it was
 * reopened.
 *
 * @param hasStarted returns true if a task runs or has a log. A task that is only reserved does neither
 */
export function listRemainingSteps(
  fanOut: Pick<FanOut, 'items' | 'attempts'>,
  state: ItemTaskStates,
  hasStarted: (task: string) => boolean,
): readonly ItemStep[] {
  const indexes = Array.from({ length: countItemTasks(fanOut) }, (_, index) => index);
  const steps = indexes.flatMap((index): readonly ItemStep[] => {
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

/** Returns true for the creation of a task that is already recorded as an open child of the run. */
export function isReservedStep(step: ItemStep): boolean {
  return step.kind === 'create' && step.reservedId !== null;
}

/** Finds the numbers of the tasks that failed or were ended by a limit. */
export function findItemsToRetry(state: ItemTaskStates): readonly number[] {
  return [...state.items].flatMap(([index, task]) => {
    const status = state.children.get(task)?.status;
    return status === 'failed' || status === 'partial' ? [index] : [];
  });
}

/** Throws `INVALID_PARAM` if a task is a template run, since it has no conversation that could read a message. */
export function requireConversation({ spec }: TaskRun): void {
  if (spec.fanOut === undefined) return;
  const message = `task ${spec.id} is a run of a template: only its tasks read messages`;
  throw new MusterError('INVALID_PARAM', message);
}

/** Records that items which failed or were ended by a limit run again. */
export function reopenFailedItems(run: TaskRun): void {
  const items = findItemsToRetry(run.state);
  if (items.length > 0) run.journal.record({ type: 'items.reopened', items });
}
