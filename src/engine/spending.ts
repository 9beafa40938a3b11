import { costUsd } from '../model/cost.ts';
import {
  addAmounts,
  modelName,
  NOTHING,
  paidTokens,
  type Amount,
  type ModelPrice,
  type Usage,
} from '../protocol/model.ts';
import type { EngineDeps } from './deps.ts';
import { expectedUse } from './estimate.ts';
import type { TaskRun } from './task-run.ts';

/** What all tries of one request cost together. */
export class Spending {
  total = NOTHING;

  add(usage: Usage | undefined, price: ModelPrice | null): void {
    if (usage === undefined) return;
    const tokens = paidTokens(usage);
    this.total = addAmounts(this.total, { tokens, costUsd: costUsd(usage, price) ?? 0 });
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
