import type { LimitHit } from '../protocol/state/activation.ts';
import {
  Budget,
  type BudgetCaps,
  type Expense,
  type RequestNeed,
  type RequestReservation,
} from '../engine/limits/budget.ts';
import { BUDGET_LIMITS } from '../engine/limits/configured-limits.ts';
import { isLowerCapFailure } from '../engine/turn/turn-outcome.ts';
import type { Script } from './script.ts';

/**
 * The budget of a task that is run again alone. What others of its tree had used by then its log does not
 * say: where it says that a cap was reached, that is taken from it. A cap of its own that must have been
 * reached by its own use is, whatever the log says.
 */
export class LoggedBudget extends Budget {
  private readonly script: Script;
  /** Whether the log has requests whose output cap a budget lowered: its own, or one above it. */
  private readonly hasOutputCaps: boolean;

  constructor(caps: BudgetCaps, script: Script) {
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
    // As the loop asks: whether there is room for calls, when there is for an answer.
    return this.script.next()?.type === 'input.queued' ? this.logged() : null;
  }

  override findExceededCap(expense: Expense): LimitHit | null {
    const hit = this.script.next()?.type === 'input.queued' ? null : this.logged();
    return hit ?? super.findExceededCap(expense);
  }

  /** Whether a request could be repeated as it was, the log says. */
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

  /** What was kept of a result stands in the log. */
  override useToolBytes(wanted: number): { readonly granted: number; readonly hit: null } {
    return { granted: wanted, hit: null };
  }

  /** The cap that the log says is reached now. */
  private logged(): LimitHit | null {
    const next = this.script.next();
    const isTold = next?.type === 'input.queued' && next.input.id.startsWith('limit-');
    const isGivenUp = next?.type === 'turn.failed';
    const event = isTold || isGivenUp ? this.script.next(1) : next;
    if (event?.type !== 'limit.reached' || !isBudgetLimit(event.limit)) return null;
    const { limit, value, used, needed, lastAnswerFits, output, unpriced } = event;
    return {
      limit,
      value,
      used,
      ...(needed === undefined ? {} : { needed }),
      ...(output === undefined ? {} : { output }),
      ...(lastAnswerFits === undefined ? {} : { lastAnswerFits }),
      ...(unpriced === undefined ? {} : { unpriced }),
    };
  }
}

function hasOutputCap(script: Script): boolean {
  for (let ahead = 0; ; ahead += 1) {
    const event = script.next(ahead);
    if (event === undefined) return false;
    if (event.type === 'turn.started' && event.outputCap !== undefined) return true;
  }
}

function isBudgetLimit(name: string): boolean {
  return BUDGET_LIMITS.some((each) => each === name);
}
