import type { Message } from '../../protocol/message.ts';
import {
  type RequestPrefix,
  modelName,
  paidTokens,
  type ModelDetails,
  type ResolvedModel,
  NO_USAGE,
  type ModelRequest,
  type Usage,
} from '../../protocol/model.ts';
import {
  firstRequest,
  estimateInput,
  inputToReserve,
  type NextRequest,
  estimateRequestNeed,
  minimumExpense,
} from '../limits/estimate.ts';
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
import type { OutputDemand } from '../limits/output-cap.ts';
import { getRequestBase, type BudgetShortfall, type ModelAnswer } from './request.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { EngineDeps } from '../task/deps.ts';
import { computeCostUsd, describePriceSource } from '../../model/catalogue/cost.ts';
import type { EstimatedUsage } from '../../protocol/used.ts';
import { isZeroUsage } from '../../protocol/state/ledger.ts';

/** Options for the request whose budget is reserved. */
export interface RequestBudgetOptions {
  /** The part of the conversation that is sent. Default: the full conversation. */
  readonly conversation?: NextRequest;
  /** `last`: no request follows this one. Default: `turn`. */
  readonly kind?: Exclude<OutputDemand['kind'], 'repeat'>;
}

/** The budget of one request: each try reserves its expense, and settles the reservation afterwards. */
export class RequestBudget {
  private readonly run: TaskRun;
  /** The estimated input in tokens. */
  private readonly input: number;
  private readonly need: RequestNeed | null;
  private reservation: Reservation | null = null;
  /** The output cap of the tries that were sent; undefined if no try was sent yet. */
  private sentCap: { readonly cap: OutputCap | null } | undefined;

  /** @param details the details of the requested model; null if no limit needs them */
  constructor(run: TaskRun, details: ModelDetails | null, options: RequestBudgetOptions = {}) {
    this.run = run;
    const { conversation: asked = run.state.conversation, kind = 'turn' } = options;
    const { measured } = run;
    const { prefix } = getRequestBase(run);
    this.input = details === null ? 0 : estimateInput(asked, prefix);
    this.need =
      details === null
        ? null
        : estimateRequestNeed(inputToReserve(this.input, measured), details, {
            output: { kind },
            ...(measured === null ? {} : { newestRound: measured.used }),
          });
    // A request that started before a crash is sent again with the same output cap.
    const { openTurn } = run.state;
    if (openTurn !== null) this.sentCap = { cap: openTurn.outputCap ?? null };
  }

  /** The output cap to which the budget lowered this request; null if the model's own limit applies. */
  get outputCap(): OutputCap | null {
    return this.sentCap?.cap ?? null;
  }

  /**
   * Returns the limit that allows a last answer, but no further round of calls before it; null if there is no such
   * limit. A round is assumed to cost as much as the newest one.
   */
  findLastTurnLimit(): LimitHit | null {
    const { budget, measured } = this.run;
    const minimumExpense = this.getMinimumExpense();
    if (budget.findExceededCap(minimumExpense) !== null) return null;
    if (measured === null) return budget.usedUpToolBytesCap;
    if (budget.usedUpToolBytesCap !== null) return budget.usedUpToolBytesCap;
    const hit = budget.findExceededCap(addExpenses(measured.used, minimumExpense));
    return hit?.needed === undefined ? hit : { ...hit, lastAnswerFits: true };
  }

  /**
   * Reserves the expense of the next try, after releasing an earlier reservation. Returns null, or the limit that
   * leaves no budget for the try. While it waits, it releases the task's slot, because a task with a reservation may
   * need a slot before it can settle. Each try of one request has the same output cap. Rejects when the task is
   * stopped.
   */
  async reserve(): Promise<BudgetShortfall | null> {
    const { run, need } = this;
    this.release();
    const { turnSignal } = run.cancellation;
    const releaseSlot = () => run.slot.release();
    const requestNeed =
      need === null || this.sentCap === undefined ? need : toRepeatNeed(need, this.sentCap.cap);
    const reserved =
      requestNeed === null
        ? await run.budget.reserve(this.getMinimumExpense(), turnSignal, releaseSlot)
        : await run.budget.reserveRequest(requestNeed, turnSignal, releaseSlot);
    if (!reserved.ok) {
      const canLowerCap = need !== null && requestNeed !== need;
      const fitsLowered = canLowerCap && run.budget.findExceededCap(minimumExpense(need)) === null;
      return { hit: reserved.hit, fitsLowered };
    }
    this.sentCap ??= { cap: reserved.outputCap };
    this.reservation = reserved.reservation;
    return null;
  }

  private getMinimumExpense(): Expense {
    return this.need === null ? { ...NO_EXPENSE, turns: 1 } : minimumExpense(this.need);
  }

  /** Settles a try that was answered. */
  settleAnswer(cost: AnswerCost): void {
    const used = { ...answerExpense(cost), turns: 1 };
    this.reservation?.settle(used);
    const { input, cacheRead, cacheWrite } = cost.usage;
    this.run.measured = { used, input: input + cacheRead + cacheWrite, estimated: this.input };
  }

  /** Settles a try that failed, or a request that was not a turn. It may have cost something, too. */
  settleFailure(cost: AnswerCost): void {
    this.reservation?.settle(answerExpense(cost));
  }

  /** Releases the reservation, if there is one. */
  release(): void {
    this.reservation?.settle(NO_EXPENSE);
  }
}

/** Returns the need of a repeated request, which has the output cap of the earlier try. */
function toRepeatNeed(need: RequestNeed, cap: OutputCap | null): RequestNeed {
  return { ...need, output: { maxTokens: cap?.tokens ?? need.output.maxTokens, kind: 'repeat' } };
}

/** Returns the expense of an answer, including the estimated usage, which the provider charges as well. */
export function answerExpense({ usage, costUsd, estimated }: AnswerCost): Expense {
  const guess = estimated === undefined ? 0 : paidTokens(estimated.usage);
  return {
    ...NO_EXPENSE,
    tokens: paidTokens(usage) + guess,
    costUsd: (costUsd ?? 0) + (estimated?.costUsd ?? 0),
  };
}

/**
 * Returns the cost limit that can't be enforced for a model because its price is unknown, or null if there is none.
 * The task ends with this limit, because a limit must not look enforced when it is not.
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

/** The first request of a task, as it is known before the task is created. */
interface FirstRequest {
  readonly model: ResolvedModel;
  readonly details: ModelDetails;
  readonly prefix: RequestPrefix;
  /** The messages before the prompt. Default: none. */
  readonly messages?: readonly Message[];
  readonly prompt: string;
}

/** Returns the limit that leaves no budget for the first request of a new task; null if there is none. */
export function findFirstRequestHit(
  budget: Budget,
  { model, details, prefix, messages = [], prompt }: FirstRequest,
): LimitHit | null {
  const input = estimateInput({ ...firstRequest(prompt), messages: [...messages] }, prefix);
  const expense = minimumExpense(estimateRequestNeed(inputToReserve(input, null), details));
  return findUnpricedCap(budget, model, details) ?? budget.findExceededCap(expense);
}

/** The usage and cost of an answer, as recorded in its event. */
export interface AnswerCost {
  /** The usage that the provider reported. */
  readonly usage: Usage;
  readonly costUsd: number | null;
  /** The model that answered, as `provider/id`. */
  readonly model: string;
  /** The source of the price; absent if the price is unknown. */
  readonly pricedBy?: string;
  readonly estimated?: EstimatedUsage;
  /** The number of searches that the provider charges. Default: 0. */
  readonly searches?: number;
}

/** Computes the cost of an answer. The first call loads the catalogue. */
export async function computeAnswerCost(
  { models }: Pick<EngineDeps, 'models'>,
  { model }: Pick<ModelRequest, 'model'>,
  answer: ModelAnswer,
): Promise<AnswerCost> {
  const finished = answer.type === 'finished' ? answer : null;
  const { servedBy, searches = 0 } = finished ?? {};
  const { price } = await models.details(model, servedBy);
  const { usage = NO_USAGE, estimated } = answer;
  return {
    usage,
    costUsd: computeCostUsd(usage, price, searches),
    ...(searches === 0 ? {} : { searches }),
    model: modelName({ provider: model.provider, id: servedBy ?? model.id }),
    ...(price === null ? {} : { pricedBy: describePriceSource(price) }),
    ...(estimated === undefined
      ? {}
      : { estimated: { usage: estimated, costUsd: computeCostUsd(estimated, price) } }),
  };
}

/** Returns the event fields for the cost of a failed answer: only the usage if nothing was used. */
export function failedAnswerCost(cost: AnswerCost): { readonly usage: Usage } | AnswerCost {
  const isFree = isZeroUsage(cost.usage) && cost.estimated === undefined;
  return isFree ? { usage: cost.usage } : cost;
}
