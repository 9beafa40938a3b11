import { computeCostUsd, describePriceSource } from '../../model/catalogue/cost.ts';
import type { EstimatedUse } from '../../protocol/used.ts';
import { isNothing } from '../../protocol/state/ledger.ts';
import { modelName, NO_USAGE, type ModelRequest, type Usage } from '../../protocol/model.ts';
import type { ModelAnswer } from './answer.ts';
import type { EngineDeps } from '../task/deps.ts';

/** What an answer has used, as its event says it. */
export interface AnswerCost {
  /** The provider's own. */
  readonly usage: Usage;
  readonly costUsd: number | null;
  /** `provider/id` of the one that answered. */
  readonly model: string;
  /** Where the price is from; absent: none is known. */
  readonly pricedBy?: string;
  readonly estimated?: EstimatedUse;
}

/** Loads the catalogue at the first call. */
export async function answerCost(
  { models }: Pick<EngineDeps, 'models'>,
  { model }: Pick<ModelRequest, 'model'>,
  answer: ModelAnswer,
): Promise<AnswerCost> {
  const servedBy = answer.type === 'finished' ? answer.servedBy : undefined;
  const { price } = await models.details(model, servedBy);
  const { usage = NO_USAGE, estimated } = answer;
  return {
    usage,
    costUsd: computeCostUsd(usage, price),
    model: modelName({ provider: model.provider, id: servedBy ?? model.id }),
    ...(price === null ? {} : { pricedBy: describePriceSource(price) }),
    ...(estimated === undefined
      ? {}
      : { estimated: { usage: estimated, costUsd: computeCostUsd(estimated, price) } }),
  };
}

/** Of an answer that broke, nothing where it has used nothing. */
export function brokenCost(cost: AnswerCost): { readonly usage: Usage } | AnswerCost {
  const isFree = isNothing(cost.usage) && cost.estimated === undefined;
  return isFree ? { usage: cost.usage } : cost;
}
