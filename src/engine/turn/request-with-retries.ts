import { NO_USAGE } from '../../protocol/model.ts';
import type { ModelAnswer } from './answer.ts';
import { answerCost, brokenCost, type AnswerCost } from './answer-cost.ts';
import type { BegunTurn } from './begin-turn.ts';
import { closedForLowerCap } from './retry-with-lower-cap.ts';
import type { EngineDeps } from '../task/deps.ts';
import { canFallBack, isLasting } from './fallback.ts';
import { streamResponse } from './stream-response.ts';
import { requestedWait, tooLongWait } from './rate-limit-wait.ts';
import { decideRetry, givenUp, NO_FAILURES } from './retry.ts';
import { sleep } from '../../base/deadlines.ts';
import type { Spending } from './spending.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { NoRoom, TurnOutcome } from './turn-outcome.ts';

/** An answer that has ended. */
export interface FullAnswer {
  readonly answer: Extract<ModelAnswer, { type: 'finished' }>;
  readonly cost: AnswerCost;
  readonly ms: number;
}

interface Asked {
  /** Holds what the first try takes, and gets what each that fails has cost. */
  readonly spending: Spending;
  /** Writes the answer down, and settles. */
  take(whole: FullAnswer): void;
}

/**
 * Sends the request of a turn until it is answered, may not be tried again, or the task is stopped.
 * Never rejects for what a provider does.
 */
export async function requestWithRetries(
  deps: EngineDeps,
  run: TaskRun,
  begun: BegunTurn,
  { spending, take }: Asked,
): Promise<TurnOutcome> {
  const { journal } = run;
  const { turn, request } = begun;
  let retries = NO_FAILURES;
  let rateLimits = 0;
  let requestedMs = 0;
  for (let attempt = 1; ; attempt += 1) {
    const startedAt = deps.clock.monotonic();
    run.tree.countRequest();
    const answer = await streamResponse(deps, run, begun, spending);
    const cost = await answerCost(deps, request, answer);
    if (answer.type === 'finished') {
      take({ answer, cost, ms: Math.round(deps.clock.monotonic() - startedAt) });
      return { kind: 'answered' };
    }
    spending.failed(cost);
    const { failure } = answer;
    const { repairs } = answer;
    const used = { ...brokenCost(cost), ...(repairs === undefined ? {} : { repairs }) };
    const cut = cutText(answer);
    const decision = decideRetry(failure, retries, {
      retries: deps.settings.retries,
      silentRetries: deps.settings.silentRetries,
      treeRetries: run.tree.remainingRetries,
      random: Math.random(),
    });
    const isLimited = failure.kind === 'rate_limit';
    rateLimits = isLimited ? rateLimits + 1 : 0;
    const requested = requestedWait(failure, rateLimits);
    requestedMs = requested === null ? 0 : requestedMs + requested;
    const limit = { totalMs: requestedMs, mostMs: deps.settings.maxWaitMs, now: deps.clock.now() };
    const tooLong = failure.retryable ? tooLongWait(failure, limit) : null;
    const isLeft =
      isLasting(failure, { inARow: rateLimits, retries: deps.settings.retries }) &&
      canFallBack(deps, run, failure);
    if (run.cancellation.turnSignal.aborted) {
      journal.record({ type: 'turn.failed', turn, failure, ...cut, ...used });
      return { kind: 'stopped' };
    }
    if (answer.noRoom !== undefined) {
      const { hit, fitsLowered } = answer.noRoom;
      if (fitsLowered) {
        journal.record(closedForLowerCap(turn, hit));
        return { kind: 'begin_again' };
      }
      journal.record({ type: 'turn.failed', turn, failure, ...used });
      return { kind: 'limit', hit };
    }
    if (!decision.retry || isLeft || tooLong !== null) {
      const spent = decision.retry ? null : decision.spent;
      const last = givenUp(tooLong ?? failure, { spent, tries: attempt, most: deps.settings });
      journal.record({ type: 'turn.failed', turn, failure: last, ...cut, ...used });
      return { kind: 'failed', failure: last };
    }
    if (failure.kind !== 'rate_limit') run.tree.countRetry();
    retries = decision.next;
    const waitMs = Math.round(decision.waitMs);
    journal.record({ type: 'turn.retried', turn, attempt, failure, waitMs, ...used });
    const prevented = await waitForRetry(deps, run, { waitMs, spending });
    if (prevented === null) continue;
    if (prevented !== 'stopped' && prevented.fitsLowered) {
      journal.record(closedForLowerCap(turn, prevented.hit));
      return { kind: 'begin_again' };
    }
    journal.record({ type: 'turn.failed', turn, failure, usage: NO_USAGE });
    return prevented === 'stopped' ? { kind: 'stopped' } : { kind: 'limit', hit: prevented.hit };
  }
}

/** What a task that is given up here can still tell. Of an answer over its size, nothing is taken. */
function cutText(answer: ModelAnswer): { readonly text?: string } {
  if (answer.type === 'finished' || answer.cut === undefined) return {};
  return answer.failure.kind === 'too_large' ? {} : { text: answer.cut };
}

interface Retry {
  readonly waitMs: number;
  readonly spending: Spending;
}

/** Without its slot, which others can use meanwhile. What prevents another try; null: nothing does. */
async function waitForRetry(
  deps: EngineDeps,
  run: TaskRun,
  { waitMs, spending }: Retry,
): Promise<NoRoom | 'stopped' | null> {
  run.slot.release();
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
