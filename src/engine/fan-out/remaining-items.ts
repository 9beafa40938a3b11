import { MusterError } from '../../base/errors.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { ChildState } from '../../protocol/state/owned-work.ts';
import type { FanOut } from '../../protocol/template.ts';

/** What of a run's state tells how far it is. */
export interface ItemTaskStates {
  readonly children: ReadonlyMap<string, Pick<ChildState, 'status'>>;
  readonly items: ReadonlyMap<number, string>;
}

/** What has yet to be done for an item, from 0. */
export type ItemStep =
  /** Makes its task; `announced`: the id under which that was announced before a crash, or null. */
  | { readonly kind: 'make'; readonly index: number; readonly announced: string | null }
  /** Its task was stopped, and goes on where it was. */
  | { readonly kind: 'go_on'; readonly index: number; readonly task: string };

/**
 * What is left of a run, in the order of its items but for those that were announced before a crash, which
 * go first. From its log alone. What completed is done; so is
 * what failed or was ended by a limit, unless it was reopened.
 *
 * @param isThere whether a task has a log, or is at work: one that is only announced has neither
 */
export function remainingSteps(
  { items }: Pick<FanOut, 'items'>,
  state: ItemTaskStates,
  isThere: (task: string) => boolean,
): readonly ItemStep[] {
  const steps = items.flatMap((_, index): readonly ItemStep[] => {
    const task = state.items.get(index);
    if (task === undefined) return [{ kind: 'make', index, announced: null }];
    switch (state.children.get(task)?.status) {
      case 'stopped':
      case 'killed':
        return [{ kind: 'go_on', index, task }];
      case null:
      case undefined:
        return isThere(task) ? [] : [{ kind: 'make', index, announced: task }];
      default:
        return [];
    }
  });
  return steps.toSorted((a, b) => Number(isReservedStep(b)) - Number(isReservedStep(a)));
}

/** Whether it is open in the log already, and nothing works on it. */
export function isReservedStep(step: ItemStep): boolean {
  return step.kind === 'make' && step.announced !== null;
}

/** The items whose tasks have failed, or were ended by a limit. */
export function itemsToRetry(state: ItemTaskStates): readonly number[] {
  return [...state.items].flatMap(([index, task]) => {
    const status = state.children.get(task)?.status;
    return status === 'failed' || status === 'partial' ? [index] : [];
  });
}

/** Throws for words to a run of a template, which nobody would read. */
export function requireConversation({ spec }: TaskRun): void {
  if (spec.fanOut === undefined) return;
  const message = `${spec.id} is a run of a template: only its tasks read messages`;
  throw new MusterError('INVALID_PARAM', message);
}

/** Writes down that items which failed, or were ended by a limit, are to be done again. */
export function reopenFailedItems(run: TaskRun): void {
  const items = itemsToRetry(run.state);
  if (items.length > 0) run.journal.record({ type: 'items.reopened', items });
}
