import type { FanOut } from '../../protocol/template.ts';
import type { ChildState } from '../../protocol/state/owned-work.ts';

/** What of a run's state tells how far it is. */
export interface ItemTasks {
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
  state: ItemTasks,
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
  return steps.toSorted((a, b) => Number(isReserved(b)) - Number(isReserved(a)));
}

/** Whether it is open in the log already, and nothing works on it. */
export function isReserved(step: ItemStep): boolean {
  return step.kind === 'make' && step.announced !== null;
}

/** The items whose tasks have failed, or were ended by a limit. */
export function itemsToRetry(state: ItemTasks): readonly number[] {
  return [...state.items].flatMap(([index, task]) => {
    const status = state.children.get(task)?.status;
    return status === 'failed' || status === 'partial' ? [index] : [];
  });
}
