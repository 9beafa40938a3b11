import { addAmounts, modelName, NOTHING, paidTokens, type Amount } from '../protocol/model.ts';
import type { AnswerCost } from './answer-cost.ts';
import type { EngineDeps } from './deps.ts';
import { expectedUse } from './estimate.ts';
import type { TaskRun } from './task-run.ts';

/** What all tries of one request cost together. */
export class Spending {
  total = NOTHING;

  /** Also what is only estimated: it is charged all the same. */
  add({ usage, costUsd, estimated }: AnswerCost): void {
    this.total = addAmounts(this.total, { tokens: paidTokens(usage), costUsd: costUsd ?? 0 });
    if (estimated === undefined) return;
    const tokens = paidTokens(estimated.usage);
    this.total = addAmounts(this.total, { tokens, costUsd: estimated.costUsd ?? 0 });
  }
}

/**
 * What to hold back. Without a cap there is nothing to hold, and the catalogue need not be loaded
 * before the first request goes out.
 */
export async function expectedAmount(deps: EngineDeps, run: TaskRun): Promise<Amount> {
  if (!run.budget.bounded) return NOTHING;
  const facts = await deps.models.facts(run.spec.model);
  if (facts.price === null && deps.settings.treeCostUsd > 0) warnUnpriced(run);
  return expectedUse(run.state, run.prefix, facts);
}

/** A cap that can't act must not look as if it did. */
function warnUnpriced({ spec, state, journal }: TaskRun): void {
  const message = `no price is known for ${modelName(spec.model)}: the limit tree_cost_usd does not count what it costs`;
  if (!state.warnings.includes(message)) journal.record({ type: 'warning', message });
}
