import { costText, countText } from '../../report/cost-text.ts';
import { plural } from '../../base/text.ts';
import { addUse, NO_USE, totalUse, type Ledger, type Use } from '../../protocol/state/ledger.ts';
import { paidTokens } from '../../protocol/model.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** What the tasks of a run have used, as their events tell. */
export class TreeUse {
  private readonly ledgers = new Map<string, Ledger>();

  see({ spec, ledger }: TaskState): void {
    this.ledgers.set(spec.id, ledger);
  }

  /** Of the main task and of those below it that were at work; null where it was alone. */
  text(): string | null {
    if (this.ledgers.size < 2) return null;
    const use = this.total({ isEstimated: false });
    const estimated = this.total({ isEstimated: true });
    const paid = countText(paidTokens(use.usage));
    const about =
      estimated.answers === 0
        ? ''
        : ` and about ${countText(paidTokens(estimated.usage))} tokens, ${costText(estimated)}, of ${plural(estimated.answers, 'answer')} that ended without usage`;
    const below = plural(this.ledgers.size - 1, 'subagent');
    return `with ${below} ${paid} tokens, ${costText(use)}${about}`;
  }

  private total(of: { readonly isEstimated: boolean }): Use {
    return [...this.ledgers.values()].reduce<Use>(
      (sum, ledger) => addUse(sum, totalUse(ledger, of)),
      NO_USE,
    );
  }
}
