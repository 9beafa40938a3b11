import { NO_USAGE } from '../../protocol/model.ts';
import {
  type ModelAnswer,
  lowerCapFailure,
  type BudgetShortfall,
  type TurnOutcome,
} from './turn-outcome.ts';
import {
  computeAnswerCost,
  failedAnswerCost,
  type AnswerCost,
  type RequestBudget,
} from './request-budget.ts';
import type { StartedTurn } from './request.ts';
import type { EngineDeps } from '../task/deps.ts';
import { canFallBack, isLongRateLimit } from './fallback.ts';
import { streamResponse } from './stream-response.ts';
import { findRequestedWait, checkMaxWait } from './rate-limit-wait.ts';
import { decideRetry, addRetryLimit, NO_FAILURES } from './retry.ts';
import { sleep } from '../task/sleep.ts';
import type { TaskRun } from '../task/task-run.ts';

/** An answer that has ended. */
export interface FinishedAnswer {
  readonly answer: Extract<ModelAnswer, { type: 'finished' }>;
  readonly cost: AnswerCost;
  readonly ms: number;
}

interface RetryContext {
  /** Holds what the first try takes, and gets what each that fails has cost. */
  readonly requestBudget: RequestBudget;
  /** Writes the answer down, and settles. */
  recordAnswer(whole: FinishedAnswer): void;
}

/**
 * Sends the request of a turn until it is answered, may not be tried again, or the task is stopped.
 * Never rejects for what a provider does.
 */
export async function requestWithRetries(
  deps: EngineDeps,
  run: TaskRun,
  begun: StartedTurn,
  { requestBudget: spending, recordAnswer: take }: RetryContext,
): Promise<TurnOutcome> {
  const { journal } = run;
  const { turn, request } = begun;
  let retries = NO_FAILURES;
  let rateLimits = 0;
  let requestedMs = 0;
  for (let attempt = 1; ; attempt += 1) {
    const startedAt = deps.clock.monotonic();
    run.tree.requestSent();
    const answer = await streamResponse(deps, run, begun, spending);
    const cost = await computeAnswerCost(deps, request, answer);
    if (answer.type === 'finished') {
      take({ answer, cost, ms: Math.round(deps.clock.monotonic() - startedAt) });
      return { kind: 'answered' };
    }
    spending.settleFailure(cost);
    const { failure } = answer;
    const { repairs } = answer;
    const used = { ...failedAnswerCost(cost), ...(repairs === undefined ? {} : { repairs }) };
    const cut = toPartialText(answer);
    const decision = decideRetry(failure, retries, {
      retries: deps.settings.retries,
      silentRetries: deps.settings.silentRetries,
      treeRetries: run.tree.retriesLeft,
      random: Math.random(),
    });
    const isLimited = failure.kind === 'rate_limit';
    rateLimits = isLimited ? rateLimits + 1 : 0;
    const requested = findRequestedWait(failure, rateLimits);
    requestedMs = requested === null ? 0 : requestedMs + requested;
    const limit = { totalMs: requestedMs, maxMs: deps.settings.maxWaitMs, now: deps.clock.now() };
    const tooLong = failure.retryable ? checkMaxWait(failure, limit) : null;
    const isLeft =
      isLongRateLimit(failure, { inARow: rateLimits, retries: deps.settings.retries }) &&
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
    if (!decision.retry || isLeft || tooLong !== null) {
      const spent = decision.retry ? null : decision.spent;
      const last = addRetryLimit(tooLong ?? failure, {
        spent,
        tries: attempt,
        limits: deps.settings,
      });
      journal.record({ type: 'turn.failed', turn, failure: last, ...cut, ...used });
      return { kind: 'failed', failure: last };
    }
    if (failure.kind !== 'rate_limit') run.tree.retried();
    retries = decision.next;
    const waitMs = Math.round(decision.waitMs);
    journal.record({ type: 'turn.retried', turn, attempt, failure, waitMs, ...used });
    const prevented = await waitForRetry(deps, run, { waitMs, requestBudget: spending });
    if (prevented === null) continue;
    if (prevented !== 'stopped' && prevented.fitsLowered) {
      journal.record(lowerCapFailure(turn, prevented.hit));
      return { kind: 'begin_again' };
    }
    journal.record({ type: 'turn.failed', turn, failure, usage: NO_USAGE });
    return prevented === 'stopped' ? { kind: 'stopped' } : { kind: 'limit', hit: prevented.hit };
  }
}

/** What a task that is given up here can still tell. Of an answer over its size, nothing is taken. */
function toPartialText(answer: ModelAnswer): { readonly text?: string } {
  if (answer.type === 'finished' || answer.partialText === undefined) return {};
  return answer.failure.kind === 'too_large' ? {} : { text: answer.partialText };
}

interface Retry {
  readonly waitMs: number;
  readonly requestBudget: RequestBudget;
}

/** Without its slot, which others can use meanwhile. What prevents another try; null: nothing does. */
async function waitForRetry(
  deps: EngineDeps,
  run: TaskRun,
  { waitMs, requestBudget: spending }: Retry,
): Promise<BudgetShortfall | 'stopped' | null> {
  run.slot.give();
  try {
    await sleep(deps.deadlines, waitMs, run.cancellation.turnSignal);
    // A broken answer may have cost what this try would need.
    const noRoom = await spending.reserve();
    if (noRoom !== null) return noRoom;
    await run.slot.take();
    return null;
  } catch {
    // All reject only when the task is stopped, which the caller sees by the signal.
    return 'stopped';
  }
}
