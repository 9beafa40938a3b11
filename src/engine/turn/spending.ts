import {
  modelName,
  paidTokens,
  type ModelDetails,
  type ResolvedModel,
} from '../../protocol/model.ts';
import type { OutputCap } from '../../protocol/output-cap.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';
import type { AnswerCost } from './answer-cost.ts';
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
  minimumExpense,
  estimateRequestNeed,
  type NextRequest,
} from '../limits/estimate.ts';
import type { OutputDemand } from '../limits/output-cap.ts';
import { requestOrigin } from './request-origin.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { NoRoom } from './turn-outcome.ts';

/** Facts about the request that money is reserved for. */
export interface SpendingOptions {
  /** The part of the conversation that is sent. Default: all of it. */
  readonly asked?: NextRequest;
  /** `last`: no request follows this one. Default: `turn`. */
  readonly kind?: Exclude<OutputDemand['kind'], 'repeat'>;
}

/** What the tries of one request take of the budget: each reserves anew, and settles. */
export class Spending {
  private readonly run: TaskRun;
  /** Estimated. */
  private readonly input: number;
  private readonly need: RequestNeed | null;
  private held: Reservation | null = null;
  /** The cap that an earlier try of this request was sent with; undefined: none was sent yet. */
  private granted: { readonly cap: OutputCap | null } | undefined;

  /** `facts`: of the model that is asked; null: no cap needs them. */
  constructor(run: TaskRun, facts: ModelDetails | null, options: SpendingOptions = {}) {
    this.run = run;
    const { asked = run.state.conversation, kind = 'turn' } = options;
    const { measured } = run;
    const { prefix } = requestOrigin(run);
    this.input = facts === null ? 0 : estimateInput(asked, prefix);
    this.need =
      facts === null
        ? null
        : estimateRequestNeed(inputToReserve(this.input, measured), facts, {
            output: { kind },
            ...(measured === null ? {} : { newestRound: measured.used }),
          });
    // Sent again after a crash, it is the same request.
    const { openTurn } = run.state;
    if (openTurn !== null) this.granted = { cap: openTurn.outputCap ?? null };
  }

  /** The output cap that the budget lowered for this request; null: the model's own limit applies. */
  get outputCap(): OutputCap | null {
    return this.granted?.cap ?? null;
  }

  /**
   * The cap under which a round of calls and the answer after it have no room, while an answer alone
   * has; null: there is none. A round is taken to cost what the newest one did.
   */
  lastTurn(): LimitHit | null {
    const { budget, measured } = this.run;
    const least = this.least();
    if (budget.findExceededCap(least) !== null) return null;
    if (measured === null) return budget.usedUpToolBytesCap;
    if (budget.usedUpToolBytesCap !== null) return budget.usedUpToolBytesCap;
    const hit = budget.findExceededCap(addExpenses(measured.used, least));
    return hit?.needed === undefined ? hit : { ...hit, lastAnswerFits: true };
  }

  /**
   * Before a try: what leaves no room for it; null: it is held back. Without the task's slot
   * while it waits: who has reserved may need one before it can settle. What it holds already it gives
   * back first. Each try of one request has the same output cap. Rejects when the task is stopped.
   */
  async reserve(): Promise<NoRoom | null> {
    const { run, need } = this;
    this.release();
    const giveSlot = () => run.slot.release();
    if (need === null) {
      const reserved = await run.budget.reserve(
        this.least(),
        run.cancellation.turnSignal,
        giveSlot,
      );
      if (!reserved.ok) return { hit: reserved.hit, fitsLowered: false };
      this.granted ??= { cap: null };
      this.held = reserved.reservation;
      return null;
    }
    const asked = this.granted === undefined ? need : repeated(need, this.granted.cap);
    const reserved = await run.budget.reserveRequest(asked, run.cancellation.turnSignal, giveSlot);
    if (!reserved.ok) {
      const fitsLowered =
        asked !== need && run.budget.findExceededCap(minimumExpense(need)) === null;
      return { hit: reserved.hit, fitsLowered };
    }
    this.granted ??= { cap: reserved.outputCap };
    this.held = reserved.reservation;
    return null;
  }

  private least(): Expense {
    return this.need === null ? { ...NO_EXPENSE, turns: 1 } : minimumExpense(this.need);
  }

  /** After a try that was answered. */
  answered(cost: AnswerCost): void {
    const used = { ...expenseOfAnswer(cost), turns: 1 };
    this.held?.settle(used);
    const { input, cacheRead, cacheWrite } = cost.usage;
    this.run.measured = { used, input: input + cacheRead + cacheWrite, estimated: this.input };
  }

  /** After a try that came to nothing, or one that is no turn: it may have cost something all the same. */
  failed(cost: AnswerCost): void {
    this.held?.settle(expenseOfAnswer(cost));
  }

  /** Gives back what is held, if anything is. */
  release(): void {
    this.held?.settle(NO_EXPENSE);
  }
}

function repeated(need: RequestNeed, cap: OutputCap | null): RequestNeed {
  return { ...need, output: { most: cap?.tokens ?? need.output.most, kind: 'repeat' } };
}

/** Also what is only estimated: it is charged all the same. */
export function expenseOfAnswer({ usage, costUsd, estimated }: AnswerCost): Expense {
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
export function unpricedCap(
  budget: Budget,
  model: ResolvedModel,
  { price }: Pick<ModelDetails, 'price'>,
): LimitHit | null {
  const cap = budget.costCap;
  if (cap === null || price !== null) return null;
  return { ...cap, unpriced: modelName(model) };
}
