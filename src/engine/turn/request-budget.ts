import {
  modelName,
  paidTokens,
  type ModelDetails,
  type ResolvedModel,
  NO_USAGE,
  type ModelRequest,
  type Usage,
} from '../../protocol/model.ts';
import type { OutputCap } from '../../protocol/output-cap.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';
import {
  addExpenses,
  NO_EXPENSE,
  type Budget,
  type Expense,
  type RequestNeed,
  type Reservation,
} from '../limits/budget.ts';
import {
  estimateInput,
  inputToReserve,
  leastExpense,
  requestNeed,
  type NextRequest,
} from '../limits/estimate.ts';
import type { OutputDemand } from '../limits/output-cap.ts';
import { getRequestBase } from './request.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { BudgetShortfall, ModelAnswer } from './turn-outcome.ts';
import { costUsd, priceSource } from '../../model/cost.ts';
import type { EstimatedUse } from '../../protocol/used.ts';
import { isNothing } from '../../protocol/state/ledger.ts';
import type { EngineDeps } from '../task/deps.ts';

/** Facts about the request that money is reserved for. */
export interface RequestBudgetOptions {
  /** The part of the conversation that is sent. Default: all of it. */
  readonly conversation?: NextRequest;
  /** `last`: no request follows this one. Default: `turn`. */
  readonly kind?: Exclude<OutputDemand['kind'], 'repeat'>;
}

/** What the tries of one request take of the budget: each reserves anew, and settles. */
export class RequestBudget {
  private readonly run: TaskRun;
  /** Estimated. */
  private readonly input: number;
  private readonly need: RequestNeed | null;
  private reservation: Reservation | null = null;
  /** The cap that an earlier try of this request was sent with; undefined: none was sent yet. */
  private sentWith: { readonly cap: OutputCap | null } | undefined;

  /** `facts`: of the model that is asked; null: no cap needs them. */
  constructor(run: TaskRun, facts: ModelDetails | null, options: RequestBudgetOptions = {}) {
    this.run = run;
    const { conversation: asked = run.state.conversation, kind = 'turn' } = options;
    const { measured } = run;
    const { prefix } = getRequestBase(run);
    this.input = facts === null ? 0 : estimateInput(asked, prefix);
    this.need =
      facts === null
        ? null
        : requestNeed(inputToReserve(this.input, measured), facts, {
            output: { kind },
            ...(measured === null ? {} : { newestRound: measured.used }),
          });
    // Sent again after a crash, it is the same request.
    const { openTurn } = run.state;
    if (openTurn !== null) this.sentWith = { cap: openTurn.outputCap ?? null };
  }

  /** The output cap that the budget lowered for this request; null: the model's own limit applies. */
  get outputCap(): OutputCap | null {
    return this.sentWith?.cap ?? null;
  }

  /**
   * The cap under which a round of calls and the answer after it have no room, while an answer alone
   * has; null: there is none. A round is taken to cost what the newest one did.
   */
  findLastTurnLimit(): LimitHit | null {
    const { budget, measured } = this.run;
    const minimumExpense = this.least();
    if (budget.lacks(minimumExpense) !== null) return null;
    if (measured === null) return budget.toolBytesGone;
    if (budget.toolBytesGone !== null) return budget.toolBytesGone;
    const hit = budget.lacks(addExpenses(measured.used, minimumExpense));
    return hit?.needed === undefined ? hit : { ...hit, lastAnswerFits: true };
  }

  /**
   * Before a try: what leaves no room for it; null: it is held back. Without the task's slot
   * while it waits: who has reserved may need one before it can settle. What it holds already it gives
   * back first. Each try of one request has the same output cap. Rejects when the task is stopped.
   */
  async reserve(): Promise<BudgetShortfall | null> {
    const { run, need } = this;
    this.release();
    const giveSlot = () => run.slot.give();
    if (need === null) {
      const reserved = await run.budget.reserve(
        this.least(),
        run.cancellation.turnSignal,
        giveSlot,
      );
      if (!reserved.ok) return { hit: reserved.hit, fitsLowered: false };
      this.sentWith ??= { cap: null };
      this.reservation = reserved.reservation;
      return null;
    }
    const asked = this.sentWith === undefined ? need : repeatNeed(need, this.sentWith.cap);
    const reserved = await run.budget.reserveRequest(asked, run.cancellation.turnSignal, giveSlot);
    if (!reserved.ok) {
      const fitsLowered = asked !== need && run.budget.lacks(leastExpense(need)) === null;
      return { hit: reserved.hit, fitsLowered };
    }
    this.sentWith ??= { cap: reserved.outputCap };
    this.reservation = reserved.reservation;
    return null;
  }

  private least(): Expense {
    return this.need === null ? { ...NO_EXPENSE, turns: 1 } : leastExpense(this.need);
  }

  /** After a try that was answered. */
  settleAnswer(cost: AnswerCost): void {
    const used = { ...answerExpense(cost), turns: 1 };
    this.reservation?.settle(used);
    const { input, cacheRead, cacheWrite } = cost.usage;
    this.run.measured = { used, input: input + cacheRead + cacheWrite, estimated: this.input };
  }

  /** After a try that came to nothing, or one that is no turn: it may have cost something all the same. */
  settleFailure(cost: AnswerCost): void {
    this.reservation?.settle(answerExpense(cost));
  }

  /** Gives back what is held, if anything is. */
  release(): void {
    this.reservation?.settle(NO_EXPENSE);
  }
}

function repeatNeed(need: RequestNeed, cap: OutputCap | null): RequestNeed {
  return { ...need, output: { most: cap?.tokens ?? need.output.most, kind: 'repeat' } };
}

/** Also what is only estimated: it is charged all the same. */
export function answerExpense({ usage, costUsd, estimated }: AnswerCost): Expense {
  const guess = estimated === undefined ? 0 : paidTokens(estimated.usage);
  return {
    ...NO_EXPENSE,
    tokens: paidTokens(usage) + guess,
    costUsd: (costUsd ?? 0) + (estimated?.costUsd ?? 0),
  };
}

/**
 * The cap on cost that can't be kept for a model, since nobody knows what that costs; null: there is
 * none. It must not look as if it acted.
 */
export function findUnpricedCap(
  budget: Budget,
  model: ResolvedModel,
  { price }: Pick<ModelDetails, 'price'>,
): LimitHit | null {
  const cap = budget.costCap;
  if (cap === null || price !== null) return null;
  return { ...cap, unpriced: modelName(model) };
}

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
export async function computeAnswerCost(
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
export function failedAnswerCost(cost: AnswerCost): { readonly usage: Usage } | AnswerCost {
  const isFree = isNothing(cost.usage) && cost.estimated === undefined;
  return isFree ? { usage: cost.usage } : cost;
}
