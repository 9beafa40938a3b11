import type { LimitHit } from '../../protocol/state/activation.ts';
import { roundAmount } from './limit-message.ts';

/** A task is told when so much of a cap is used, in percent. */
const MARKS = [50, 80] as const;

export interface BudgetNotice {
  /** The same for the same mark of the same cap in one stint, so that it is told once. */
  readonly id: string;
  readonly text: string;
}

/**
 * What to tell a task of its caps: of each the highest mark that is passed, unless that or a higher
 * one was told before. `told`: ids of what it was ever told.
 */
export function findDueNotices(
  uses: readonly LimitHit[],
  { activation, told }: { readonly activation: number; readonly told: ReadonlySet<string> },
): readonly BudgetNotice[] {
  return uses.flatMap(({ limit, value, used }) => {
    const mark = MARKS.findLast((each) => used * 100 >= value * each);
    if (mark === undefined) return [];
    const id = (of: number): string => `budget-${activation}-${limit}-${of}`;
    if (MARKS.some((each) => each >= mark && told.has(id(each)))) return [];
    const advice = mark === 50 ? '' : ' Bring the task to its end.';
    return [
      {
        id: id(mark),
        text: `${mark} % of ${limit} = ${value} is used (${roundAmount(used)}).${advice}`,
      },
    ];
  });
}
