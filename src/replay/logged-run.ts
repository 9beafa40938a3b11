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

/** A task that is rerun alone. The data that it shared with its tree comes from its log. */
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

/** A cancellation without a time limit, because the log contains the moment at which the time was over. */
class LoggedCancellation extends Cancellation {
  override callAfter(): void {}
}

/** A part of the failure message of `addRetryLimit`. */
const TREE_RETRIES_TEXT = 'the retries of the whole task tree';

/** The tree of a task that is rerun alone. */
export class LoggedTree extends TaskTree {
  private readonly script: RerunLog;

  constructor(id: string, parts: TaskTreeParts, script: RerunLog) {
    super(id, parts);
    this.script = script;
  }

  /** The remaining retries: 0 if the log says that the tasks of the tree have used them up. */
  override get remainingRetries(): number {
    const next = this.script.next();
    const isSpent =
      next?.type === 'turn.failed' && next.failure.message.includes(TREE_RETRIES_TEXT);
    return isSpent ? 0 : Infinity;
  }
}

/**
 * The budget of a task that is rerun alone. The log does not say how much the other tasks of the tree had used, so
 * reached limits are taken from the log. A limit that the task must have reached by its own use counts in any case.
 */
class LoggedBudget extends Budget {
  private readonly script: RerunLog;
  /** True if the log has requests whose output cap was lowered by a budget of the task or of a task above it. */
  private readonly hasOutputCaps: boolean;

  constructor(caps: BudgetCaps, script: RerunLog) {
    const { costUsd: _, toolBytes: _bytes, ...own } = caps;
    super(own, null);
    this.script = script;
    this.hasOutputCaps = hasOutputCap(script);
  }

  override get isBounded(): boolean {
    return super.isBounded || this.hasOutputCaps || this.findLoggedHit() !== null;
  }

  override get costCap(): LimitHit | null {
    const hit = this.findLoggedHit();
    if (hit?.unpriced === undefined) return null;
    const { unpriced: _, ...cap } = hit;
    return cap;
  }

  override get usedUpToolBytesCap(): LimitHit | null {
    // The loop reads this value after it has checked whether an answer fits.
    return this.script.next()?.type === 'input.queued' ? this.findLoggedHit() : null;
  }

  override findExceededCap(expense: Expense): LimitHit | null {
    const hit = this.script.next()?.type === 'input.queued' ? null : this.findLoggedHit();
    return hit ?? super.findExceededCap(expense);
  }

  /** Reserves a request. The log says whether a repeated request could be sent unchanged. */
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

  /** Grants everything, because the results in the log are cut already. */
  override useToolBytes(wanted: number): { readonly granted: number; readonly hit: null } {
    return { granted: wanted, hit: null };
  }

  /** Returns the budget limit that is reached next in the log, or null. */
  private findLoggedHit(): LimitHit | null {
    const next = this.script.next();
    const isNotice = next?.type === 'input.queued' && next.input.id.startsWith('limit-');
    const isFailure = next?.type === 'turn.failed';
    const event = isNotice || isFailure ? this.script.next(1) : next;
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
