import { dropMissing } from '../../base/drop-missing.ts';
import { NO_USAGE } from '../../protocol/model.ts';
import {
  type ModelAnswer,
  lowerCapFailure,
  type BudgetShortfall,
  type TurnOutcome,
  type StartedTurn,
} from './request.ts';
import {
  computeAnswerCost,
  failedAnswerCost,
  type AnswerCost,
  type RequestBudget,
} from './request-budget.ts';
import type { EngineDeps } from '../task/deps.ts';
import { canFallBack, isLongRateLimit } from './fallback.ts';
import { streamResponse } from './stream-response.ts';
import {
  decideRetry,
  NO_FAILURES,
  addRetryLimit,
  findRequestedWait,
  checkMaxWait,
} from './retry.ts';
import { sleep } from '../../base/deadlines.ts';
import type { TaskRun } from '../task/task-run.ts';

/** An answer that ended normally, with its cost and duration. */
export interface FinishedAnswer {
  readonly answer: Extract<ModelAnswer, { type: 'finished' }>;
  readonly cost: AnswerCost;
  readonly ms: number;
}

interface RetryContext {
  /** Holds the reservation of the first try, and is charged for each failed try. */
  readonly requestBudget: RequestBudget;
  /** Records the answer and settles the budget. */
  recordAnswer(finished: FinishedAnswer): void;
}

/**
 * Sends the request of a turn until it is answered, may not be retried, or the task is stopped. Never rejects
 * because of a provider.
 */
export async function requestWithRetries(
  deps: EngineDeps,
  run: TaskRun,
  begun: StartedTurn,
  { requestBudget, recordAnswer }: RetryContext,
): Promise<TurnOutcome> {
  const { journal } = run;
  const { turn, request } = begun;
  const { settings } = deps;
  const { retries: maxRetries, silentRetries } = settings;
  let retries = NO_FAILURES;
  let rateLimits = 0;
  let requestedMs = 0;
  for (let attempt = 1; ; attempt += 1) {
    const startedAt = deps.clock.monotonic();
    run.tree.countRequest();
    const answer = await streamResponse(deps, run, begun, requestBudget);
    const cost = await computeAnswerCost(deps, request, answer);
    if (answer.type === 'finished') {
      recordAnswer({ answer, cost, ms: Math.round(deps.clock.monotonic() - startedAt) });
      return { kind: 'answered' };
    }
    requestBudget.settleFailure(cost);
    const { failure, repairs } = answer;
    const used = { ...failedAnswerCost(cost), ...dropMissing({ repairs }) };
    const cut = toPartialText(answer);
    const decision = decideRetry(failure, retries, {
      retries: maxRetries,
      silentRetries,
      treeRetries: run.tree.remainingRetries,
      random: Math.random(),
    });
    const isLimited = failure.kind === 'rate_limit';
    rateLimits = isLimited ? rateLimits + 1 : 0;
    const requested = findRequestedWait(failure, rateLimits);
    requestedMs = requested === null ? 0 : requestedMs + requested;
    const limit = { totalMs: requestedMs, maxMs: settings.maxWaitMs, now: deps.clock.now() };
    const tooLong = failure.retryable ? checkMaxWait(failure, limit) : null;
    const isAbandoned =
      isLongRateLimit(failure, { inARow: rateLimits, retries: maxRetries }) &&
      canFallBack(deps, run, failure);
    if (run.cancellation.turnSignal.aborted) {
      journal.record({ type: 'turn.failed', turn, failure, ...cut, ...used });
      return { kind: 'stopped' };
    }
    if (answer.shortfall !== undefined) {
      const { hit, fitsLowered } = answer.shortfall;
      if (fitsLowered) {
        journal.record(lowerCapFailure(turn, hit));
        return { kind: 'begin_again' };
      }
      journal.record({ type: 'turn.failed', turn, failure, ...used });
      return { kind: 'limit', hit };
    }
    if (!decision.retry || isAbandoned || tooLong !== null) {
      const spent = decision.retry ? null : decision.spent;
      const tries = { spent, tries: attempt, limits: settings };
      const last = addRetryLimit(tooLong ?? failure, tries);
      journal.record({ type: 'turn.failed', turn, failure: last, ...cut, ...used });
      return { kind: 'failed', failure: last };
    }
    if (failure.kind !== 'rate_limit') run.tree.countRetry();
    retries = decision.next;
    const waitMs = Math.round(decision.waitMs);
    journal.record({ type: 'turn.retried', turn, attempt, failure, waitMs, ...used });
    const prevented = await waitForRetry(deps, run, { waitMs, requestBudget });
    if (prevented === null) continue;
    if (prevented !== 'stopped' && prevented.fitsLowered) {
      journal.record(lowerCapFailure(turn, prevented.hit));
      return { kind: 'begin_again' };
    }
    journal.record({ type: 'turn.failed', turn, failure, usage: NO_USAGE });
    return prevented === 'stopped' ? { kind: 'stopped' } : { kind: 'limit', hit: prevented.hit };
  }
}

/**
 * Returns the text of an answer that broke off, for a task that ends here. An answer above its size limit gives
 * none.
 */
function toPartialText(answer: ModelAnswer): { readonly text?: string } {
  if (answer.type === 'finished' || answer.partialText === undefined) return {};
  return answer.failure.kind === 'too_large' ? {} : { text: answer.partialText };
}

interface Retry {
  readonly waitMs: number;
  readonly requestBudget: RequestBudget;
}

/**
 * Waits for the next try without the task's slot, and reserves its budget. Returns what prevents the try, or null.
 */
async function waitForRetry(
  deps: EngineDeps,
  run: TaskRun,
  { waitMs, requestBudget }: Retry,
): Promise<BudgetShortfall | 'stopped' | null> {
  run.slot.release();
  try {
    await sleep(deps.deadlines, waitMs, run.cancellation.turnSignal);
    // A failed answer may have used up the budget for this try.
    const shortfall = await requestBudget.reserve();
    if (shortfall !== null) return shortfall;
    await run.slot.take();
    return null;
  } catch {
    // All reject only when the task is stopped, which the caller sees by the signal.
    return 'stopped';
  }
}
