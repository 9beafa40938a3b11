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

/** The budget of a request and the callback for its answer. */
interface RetryContext {
  /** Holds the reservation of the first try. Each failed try is charged to it. */
  readonly requestBudget: RequestBudget;
  /** Records the answer and settles the budget. */
  recordAnswer(finished: FinishedAnswer): void;
}

/**
 * Sends the request of a turn until it is answered, must not be sent again, or the task is stopped. Never rejects
 * because of a provider.
 */
export async function requestWithRetries(
  deps: EngineDeps,
  run: TaskRun,
  startedTurn: StartedTurn,
  { requestBudget, recordAnswer }: RetryContext,
): Promise<TurnOutcome> {
  const { journal } = run;
  const { turn, request } = startedTurn;
  const { settings } = deps;
  const { retries: maxRetries, silentRetries } = settings;
  let retries = NO_FAILURES;
  let rateLimits = 0;
  let requestedMs = 0;
  for (let attempt = 1; ; attempt += 1) {
    const startedAt = deps.clock.monotonic();
    run.tree.countRequest();
    const answer = await streamResponse(deps, run, startedTurn, requestBudget);
    const cost = await computeAnswerCost(deps, request, answer);
    if (answer.type === 'finished') {
      recordAnswer({ answer, cost, ms: Math.round(deps.clock.monotonic() - startedAt) });
      return { kind: 'answered' };
    }
    requestBudget.settleFailure(cost);
    const { failure, repairs } = answer;
    const costFields = { ...failedAnswerCost(cost), ...dropMissing({ repairs }) };
    const partialText = toPartialText(answer);
    const decision = decideRetry(failure, retries, {
      retries: maxRetries,
      silentRetries,
      treeRetries: run.tree.remainingRetries,
      random: Math.random(),
    });
    const isLimited = failure.kind === 'rate_limit';
    rateLimits = isLimited ? rateLimits + 1 : 0;
    const requestedWait = findRequestedWait(failure, rateLimits);
    requestedMs = requestedWait === null ? 0 : requestedMs + requestedWait;
    const limit = { totalMs: requestedMs, maxMs: settings.maxWaitMs, now: deps.clock.now() };
    const waitFailure = failure.retryable ? checkMaxWait(failure, limit) : null;
    const leavesToFallback =
      isLongRateLimit(failure, { inARow: rateLimits, retries: maxRetries }) &&
      canFallBack(deps, run, failure);
    if (run.cancellation.turnSignal.aborted) {
      journal.record({ type: 'turn.failed', turn, failure, ...partialText, ...costFields });
      return { kind: 'stopped' };
    }
    if (answer.shortfall !== undefined) {
      const { hit, fitsLowered } = answer.shortfall;
      if (fitsLowered) {
        journal.record(lowerCapFailure(turn, hit));
        return { kind: 'begin_again' };
      }
      journal.record({ type: 'turn.failed', turn, failure, ...costFields });
      return { kind: 'limit', hit };
    }
    if (!decision.retry || leavesToFallback || waitFailure !== null) {
      const reached = decision.retry ? null : decision.reached;
      const tries = { reached, tries: attempt, limits: settings };
      const last = addRetryLimit(waitFailure ?? failure, tries);
      journal.record({ type: 'turn.failed', turn, failure: last, ...partialText, ...costFields });
      return { kind: 'failed', failure: last };
    }
    if (failure.kind !== 'rate_limit') run.tree.countRetry();
    retries = decision.next;
    const waitMs = Math.round(decision.waitMs);
    journal.record({ type: 'turn.retried', turn, attempt, failure, waitMs, ...costFields });
    const obstacle = await waitForRetry(deps, run, { waitMs, requestBudget });
    if (obstacle === null) continue;
    if (obstacle !== 'stopped' && obstacle.fitsLowered) {
      journal.record(lowerCapFailure(turn, obstacle.hit));
      return { kind: 'begin_again' };
    }
    journal.record({ type: 'turn.failed', turn, failure, usage: NO_USAGE });
    return obstacle === 'stopped' ? { kind: 'stopped' } : { kind: 'limit', hit: obstacle.hit };
  }
}

/**
 * Returns the text of an interrupted answer as an event field, for a task that ends with it. The text of an answer
 * above the size limit is not recorded.
 */
function toPartialText(answer: ModelAnswer): { readonly text?: string } {
  if (answer.type === 'finished' || answer.partialText === undefined) return {};
  return answer.failure.kind === 'too_large' ? {} : { text: answer.partialText };
}

interface PendingRetry {
  readonly waitMs: number;
  readonly requestBudget: RequestBudget;
}

/**
 * Releases the task's slot, waits for the next try, reserves the budget and takes the slot again. Returns the reason
 * why the try can't be sent, or null.
 */
async function waitForRetry(
  deps: EngineDeps,
  run: TaskRun,
  { waitMs, requestBudget }: PendingRetry,
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
    // The waits reject only when the task is stopped. The caller checks the signal.
    return 'stopped';
  }
}
