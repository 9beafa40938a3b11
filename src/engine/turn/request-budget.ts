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

/** Options for the request that budget is reserved for. */
export interface RequestBudgetOptions {
  /** The part of the conversation that is sent. Default: all of it. */
  readonly conversation?: NextRequest;
  /** `last`: no request follows this one. Default: `turn`. */
  readonly kind?: Exclude<OutputDemand['kind'], 'repeat'>;
}

/** The budget of one request: each try reserves its expense, and settles it afterwards. */
export class RequestBudget {
  private readonly run: TaskRun;
  /** The estimated input in tokens. */
  private readonly input: number;
  private readonly need: RequestNeed | null;
  private reservation: Reservation | null = null;
  /** The output cap that an earlier try of this request was sent with; undefined if none was sent yet. */
  private sentWith: { readonly cap: OutputCap | null } | undefined;

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
    // A request that is sent again after a crash is the same request.
    const { openTurn } = run.state;
    if (openTurn !== null) this.sentWith = { cap: openTurn.outputCap ?? null };
  }

  /** The output cap that the budget lowered for this request; null: the model's own limit applies. */
  get outputCap(): OutputCap | null {
    return this.sentWith?.cap ?? null;
  }

  /**
   * Returns the limit that leaves room for a last answer, but not for another round of calls before it; null if
   * there is none. A round is assumed to cost as much as the newest one.
   */
  findLastTurnLimit(): LimitHit | null {
    const { budget, measured } = this.run;
    const minimumExpense = this.least();
    if (budget.findExceededCap(minimumExpense) !== null) return null;
    if (measured === null) return budget.usedUpToolBytesCap;
    if (budget.usedUpToolBytesCap !== null) return budget.usedUpToolBytesCap;
    const hit = budget.findExceededCap(addExpenses(measured.used, minimumExpense));
    return hit?.needed === undefined ? hit : { ...hit, lastAnswerFits: true };
  }

  /**
   * Reserves the expense of the next try, after releasing an earlier reservation. Returns the limit that leaves
   * no room for it, or null if it is reserved. Gives up the task's slot while it waits, because a task with a
   * reservation may need a slot before it can settle. Each try of one request has the same output cap. Rejects
   * when the task is stopped.
   */
  async reserve(): Promise<BudgetShortfall | null> {
    const { run, need } = this;
    this.release();
    const { turnSignal } = run.cancellation;
    const giveSlot = () => run.slot.release();
    const asked =
      need === null || this.sentWith === undefined ? need : repeatNeed(need, this.sentWith.cap);
    const reserved =
      asked === null
        ? await run.budget.reserve(this.least(), turnSignal, giveSlot)
        : await run.budget.reserveRequest(asked, turnSignal, giveSlot);
    if (!reserved.ok) {
      const mayLower = need !== null && asked !== need;
      const fitsLowered = mayLower && run.budget.findExceededCap(minimumExpense(need)) === null;
      return { hit: reserved.hit, fitsLowered };
    }
    this.sentWith ??= { cap: reserved.outputCap };
    this.reservation = reserved.reservation;
    return null;
  }

  private least(): Expense {
    return this.need === null ? { ...NO_EXPENSE, turns: 1 } : minimumExpense(this.need);
  }

  /** Settles a try that was answered. */
  settleAnswer(cost: AnswerCost): void {
    const used = { ...answerExpense(cost), turns: 1 };
    this.reservation?.settle(used);
    const { input, cacheRead, cacheWrite } = cost.usage;
    this.run.measured = { used, input: input + cacheRead + cacheWrite, estimated: this.input };
  }

  /** Settles a try that failed or that was no turn: it may have cost something, too. */
  settleFailure(cost: AnswerCost): void {
    this.reservation?.settle(answerExpense(cost));
  }

  /** Gives back the reservation, if there is one. */
  release(): void {
    this.reservation?.settle(NO_EXPENSE);
  }
}

function repeatNeed(need: RequestNeed, cap: OutputCap | null): RequestNeed {
  return { ...need, output: { maxTokens: cap?.tokens ?? need.output.maxTokens, kind: 'repeat' } };
}

/** Returns the expense of an answer, including estimated use, which the provider charges as well. */
export function answerExpense({ usage, costUsd, estimated }: AnswerCost): Expense {
  const guess = estimated === undefined ? 0 : paidTokens(estimated.usage);
  return {
    ...NO_EXPENSE,
    tokens: paidTokens(usage) + guess,
    costUsd: (costUsd ?? 0) + (estimated?.costUsd ?? 0),
  };
}

/**
 * Returns the cost limit that cannot be enforced for a model because its price is unknown, or null if there is
 * none. The task ends with it, since an unenforced limit must not look enforced.
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

/** Returns the limit that leaves no room for the first request of a new task; null if there is none. */
export function findFirstRequestHit(
  budget: Budget,
  { model, details, prefix, messages = [], prompt }: FirstRequest,
): LimitHit | null {
  const input = estimateInput({ ...firstRequest(prompt), messages: [...messages] }, prefix);
  const expense = minimumExpense(estimateRequestNeed(inputToReserve(input, null), details));
  return findUnpricedCap(budget, model, details) ?? budget.findExceededCap(expense);
}

/** The usage and cost of an answer, as its event holds them. */
export interface AnswerCost {
  /** The usage that the provider reported. */
  readonly usage: Usage;
  readonly costUsd: number | null;
  /** The model that answered, as `provider/id`. */
  readonly model: string;
  /** The source of the price; absent if the price is unknown. */
  readonly pricedBy?: string;
  readonly estimated?: EstimatedUsage;
}

/** Computes the cost of an answer. The first call loads the catalogue. */
export async function computeAnswerCost(
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

/** Returns the cost of a failed answer: only its usage if that is zero. */
export function failedAnswerCost(cost: AnswerCost): { readonly usage: Usage } | AnswerCost {
  const isFree = isZeroUsage(cost.usage) && cost.estimated === undefined;
  return isFree ? { usage: cost.usage } : cost;
}
