import { modelName, paidTokens, type ModelFacts, type ResolvedModel } from '../protocol/model.ts';
import type { LimitHit } from '../protocol/stint.ts';
import type { AnswerCost } from './answer-cost.ts';
import { addExpenses, NO_EXPENSE, type Budget, type Expense, type Reservation } from './budget.ts';
import {
  estimateInput,
  inputToReserve,
  mostOf,
  namingOutput,
  type NextRequest,
} from './estimate.ts';
import { requestOrigin } from './request-origin.ts';
import type { TaskRun } from './task-run.ts';

/** What the tries of one request take of the budget: each reserves anew, and settles. */
export class Spending {
  private readonly run: TaskRun;
  /** Estimated. */
  private readonly input: number;
  private readonly most: Expense;
  private readonly model: ResolvedModel;
  private readonly facts: ModelFacts | null;
  private held: Reservation | null = null;

  /**
   * `facts`: of the model that is asked; null: no cap needs them. `asked`: what of the conversation is sent.
   */
  constructor(run: TaskRun, facts: ModelFacts | null, asked: NextRequest = run.state.conversation) {
    this.run = run;
    this.facts = facts;
    const { measured } = run;
    const { prefix, model } = requestOrigin(run);
    this.model = model;
    this.input = facts === null ? 0 : estimateInput(asked, prefix);
    this.most =
      facts === null
        ? { ...NO_EXPENSE, turns: 1 }
        : mostOf(inputToReserve(this.input, measured), facts);
  }

  /**
   * The cap under which a round of calls and the answer after it have no room, while an answer alone
   * has; null: there is none. A round is taken to cost what the newest one did.
   */
  lastTurn(): LimitHit | null {
    const { budget, measured } = this.run;
    if (budget.lacks(this.most) !== null) return null;
    if (measured === null) return budget.toolBytesGone;
    return budget.toolBytesGone ?? budget.lacks(addExpenses(measured.used, this.most));
  }

  /**
   * Before a try: the cap that leaves no room for it; null: it is held back. Without the task's slot
   * while it waits: who has reserved may need one before it can settle. What it holds already it gives
   * back first. Rejects when the task is stopped.
   */
  async reserve(): Promise<LimitHit | null> {
    const { run } = this;
    this.release();
    const reserved = await run.budget.reserve(this.most, run.turnSignal, () => run.giveSlot());
    if (!reserved.ok) {
      return this.facts === null
        ? reserved.hit
        : namingOutput(reserved.hit, this.model, this.facts);
    }
    this.held = reserved.reservation;
    return null;
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
  { price }: Pick<ModelFacts, 'price'>,
): LimitHit | null {
  const cap = budget.costCap;
  if (cap === null || price !== null) return null;
  return { ...cap, unpriced: modelName(model) };
}
