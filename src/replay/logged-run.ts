import { dropMissing } from '../base/drop-missing.ts';
import { BUDGET_LIMITS, taskCaps } from '../engine/limits/configured-limits.ts';
import {
  Budget,
  activationExpense,
  type BudgetCaps,
  type Expense,
  type RequestNeed,
  type RequestReservation,
} from '../engine/limits/budget.ts';
import type { EngineDeps } from '../engine/task/deps.ts';
import { TaskRun, type TaskRunParts } from '../engine/task/task-run.ts';
import { TaskTree, type TaskTreeParts } from '../engine/task/task-tree.ts';
import { Cancellation } from '../engine/task/cancellation.ts';
import type { LimitHit } from '../protocol/state/activation.ts';
import type { RerunLog } from './rerun-log.ts';
import { isLowerCapFailure } from '../engine/turn/request.ts';

/** A task that is rerun alone. Its log replaces what it shared with its tree. */
export class LoggedRun extends TaskRun {
  override readonly budget: Budget;

  constructor(deps: EngineDeps, parts: TaskRunParts, script: RerunLog) {
    const { deadlines } = deps;
    const isInterruptible = parts.parent === null;
    super(deps, { ...parts, cancellation: new LoggedCancellation({ deadlines, isInterruptible }) });
    this.budget = new LoggedBudget(taskCaps(this.spec.limits), script);
    if (this.state.end === null)
      this.budget.addEarlierUse(activationExpense(this.state.activation));
  }
}

/** Sets no time limit, since the log says when the time was up. */
class LoggedCancellation extends Cancellation {
  override callAfter(): void {}
}

const SPENT_BY_TREE = 'the retries of the whole task tree';

/** The tree of a task that is rerun alone. */
export class LoggedTree extends TaskTree {
  private readonly script: RerunLog;

  constructor(id: string, parts: TaskTreeParts, script: RerunLog) {
    super(id, parts);
    this.script = script;
  }

  /** None if the log says that other tasks of the tree have used them up. */
  override get remainingRetries(): number {
    const next = this.script.next();
    const isSpent = next?.type === 'turn.failed' && next.failure.message.includes(SPENT_BY_TREE);
    return isSpent ? 0 : Infinity;
  }
}

/**
 * The budget of a task that is rerun alone. The log does not say what the rest of the tree had used, so that reached
 * caps are taken from the log. A cap that the task must have reached by its own use counts in any case.
 */
class LoggedBudget extends Budget {
  private readonly script: RerunLog;
  /** True if the log has requests whose output cap a budget lowered: its own, or one above it. */
  private readonly hasOutputCaps: boolean;

  constructor(caps: BudgetCaps, script: RerunLog) {
    const { costUsd: _, toolBytes: _bytes, ...own } = caps;
    super(own, null);
    this.script = script;
    this.hasOutputCaps = hasOutputCap(script);
  }

  override get isBounded(): boolean {
    return super.isBounded || this.hasOutputCaps || this.logged() !== null;
  }

  override get costCap(): LimitHit | null {
    const hit = this.logged();
    if (hit?.unpriced === undefined) return null;
    const { unpriced: _, ...cap } = hit;
    return cap;
  }

  override get usedUpToolBytesCap(): LimitHit | null {
    // The loop asks this for calls after it has asked whether an answer fits.
    return this.script.next()?.type === 'input.queued' ? this.logged() : null;
  }

  override findExceededCap(expense: Expense): LimitHit | null {
    const hit = this.script.next()?.type === 'input.queued' ? null : this.logged();
    return hit ?? super.findExceededCap(expense);
  }

  /** Reserves a request. The log says whether a repeated one could be sent unchanged. */
  override reserveRequest(
    need: RequestNeed,
    signal: AbortSignal,
    onWait?: () => void,
  ): Promise<RequestReservation> {
    if (need.output.kind !== 'repeat') return super.reserveRequest(need, signal, onWait);
    if (isLowerCapFailure(this.script.next())) {
      const hit = { limit: 'max_tokens', value: 0, used: 0 };
      return Promise.resolve({ ok: false, hit });
    }
    const output = { ...need.output, kind: 'last' } as const;
    return super.reserveRequest({ ...need, output }, signal, onWait);
  }

  /** Grants everything, since the log has the results as they were cut. */
  override useToolBytes(wanted: number): { readonly granted: number; readonly hit: null } {
    return { granted: wanted, hit: null };
  }

  /** Returns the cap that is reached next in the log, or null. */
  private logged(): LimitHit | null {
    const next = this.script.next();
    const isTold = next?.type === 'input.queued' && next.input.id.startsWith('limit-');
    const isGivenUp = next?.type === 'turn.failed';
    const event = isTold || isGivenUp ? this.script.next(1) : next;
    if (event?.type !== 'limit.reached' || !BUDGET_LIMITS.some((each) => each === event.limit))
      return null;
    const { limit, value, used, needed, lastAnswerFits, output, unpriced } = event;
    return { limit, value, used, ...dropMissing({ needed, output, lastAnswerFits, unpriced }) };
  }
}

function hasOutputCap(script: RerunLog): boolean {
  return (
    script.find((event) => event.type === 'turn.started' && event.outputCap !== undefined) !==
    undefined
  );
}
