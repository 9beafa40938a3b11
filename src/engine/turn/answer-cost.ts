import { costUsd, priceSource } from '../../model/cost.ts';
import type { EstimatedUsage } from '../../protocol/used.ts';
import { isZeroUsage } from '../../protocol/state/ledger.ts';
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
  readonly estimated?: EstimatedUsage;
}

/** Loads the catalogue at the first call. */
export async function answerCost(
  { models }: Pick<EngineDeps, 'models'>,
  { model }: Pick<ModelRequest, 'model'>,
  answer: ModelAnswer,
): Promise<AnswerCost> {
  const servedBy = answer.type === 'finished' ? answer.servedBy : undefined;
  const { price } = await models.facts(model, servedBy);
  const { usage = NO_USAGE, estimated } = answer;
  return {
    usage,
    costUsd: costUsd(usage, price),
    model: modelName({ provider: model.provider, id: servedBy ?? model.id }),
    ...(price === null ? {} : { pricedBy: priceSource(price) }),
    ...(estimated === undefined
      ? {}
      : { estimated: { usage: estimated, costUsd: costUsd(estimated, price) } }),
  };
}

/** Of an answer that broke, nothing where it has used nothing. */
export function brokenCost(cost: AnswerCost): { readonly usage: Usage } | AnswerCost {
  const isFree = isZeroUsage(cost.usage) && cost.estimated === undefined;
  return isFree ? { usage: cost.usage } : cost;
}
