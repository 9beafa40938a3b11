import type { LimitHit } from '../../protocol/state/activation.ts';
import { roundAmount } from './limit-message.ts';

/** The shares of a cap, in percent, at which a task is notified. */
const MARKS = [50, 80] as const;

export interface BudgetNotice {
  /** Identifies the mark, the cap and the activation, so that each notice is sent once. */
  readonly id: string;
  readonly text: string;
}

/**
 * Returns the notices that are due: for each cap the highest mark that is passed, unless a notice about that
 * mark or a higher one was sent before.
 *
 * @param activation the number of the task's activation
 * @param sentIds the ids of all notices that the task ever received
 */
export function findDueNotices(
  uses: readonly LimitHit[],
  { activation, sentIds }: { readonly activation: number; readonly sentIds: ReadonlySet<string> },
): readonly BudgetNotice[] {
  return uses.flatMap(({ limit, value, used }) => {
    const mark = MARKS.findLast((each) => used * 100 >= value * each);
    if (mark === undefined) return [];
    const id = (percent: number): string => `budget-${activation}-${limit}-${percent}`;
    if (MARKS.some((each) => each >= mark && sentIds.has(id(each)))) return [];
    const advice = mark === 50 ? '' : ' Bring the task to its end.';
    return [
      {
        id: id(mark),
        text: `${mark} % of ${limit} = ${value} is used (${roundAmount(used)}).${advice}`,
      },
    ];
  });
}
