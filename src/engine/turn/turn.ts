import { requestWithRetries, type FullAnswer } from './request-with-retries.ts';
import { closedForLowerCap } from './retry-with-lower-cap.ts';
import { beginTurn, type BegunTurn, type ToolChoice } from './begin-turn.ts';
import { dueNotices } from '../limits/budget-notices.ts';
import { capsInUse } from './caps-in-use.ts';
import { queueNewDate } from './day-change.ts';
import type { EngineDeps } from '../task/deps.ts';
import { bookAbandonedResponse } from './abandoned-response.ts';
import { withMentioned } from './mentioned-calls.ts';
import { createNotice } from '../../protocol/notice-text.ts';
import { Spending, unpricedCap } from './spending.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { NoRoom, TurnOutcome } from './turn-outcome.ts';

/**
 * One model request and its answer, retries included. Never rejects for what a provider does. What
 * waits in the queue stands in the request; the budget is reserved before each try and settled after it.
 * Rejects when the task is stopped before the request is begun.
 */
export async function runTurn(
  deps: EngineDeps,
  run: TaskRun,
  toolChoice: ToolChoice,
): Promise<TurnOutcome> {
  await bookAbandonedResponse(deps, run);
  const { model } = run.spec;
  // Without a cap there is nothing to hold back, and the catalogue need not be loaded yet.
  const facts = run.budget.bounded ? await deps.models.facts(model) : null;
  const unpriced = facts === null ? null : unpricedCap(run.budget, model, facts);
  if (unpriced !== null) return { kind: 'limit', hit: unpriced };
  // A request that was begun before a crash is the same again: nothing new may stand in it.
  const isNew = run.state.openTurn === null;
  if (isNew && toolChoice === 'auto') {
    queueNewDate(deps, run);
    tellUse(deps, run);
  }
  const spending = new Spending(run, facts, { kind: toolChoice === 'none' ? 'last' : 'turn' });
  const last = isNew && toolChoice === 'auto' ? spending.lastTurn() : null;
  if (last !== null) return { kind: 'last_turn', hit: last };
  try {
    const noRoom = await spending.reserve();
    if (noRoom !== null) return withoutRoom(run, noRoom);
    await run.slot.take();
    run.cancellation.turnSignal.throwIfAborted();
    const outputCap = isNew && deps.outputCap ? deps.outputCap() : spending.outputCap;
    const begun = beginTurn(deps, run, { toolChoice, outputCap });
    const take = (whole: FullAnswer) => takeAnswer(deps, run, begun, { ...whole, spending });
    return await requestWithRetries(deps, run, begun, { spending, take });
  } finally {
    spending.release();
  }
}

/** A turn that was begun before a crash is closed where only a request with a lower output cap has room. */
function withoutRoom({ state, journal }: TaskRun, { hit, fitsLowered }: NoRoom): TurnOutcome {
  const { openTurn } = state;
  if (openTurn === null || !fitsLowered) return { kind: 'limit', hit };
  journal.record(closedForLowerCap(openTurn.turn, hit));
  return { kind: 'begin_again' };
}

function takeAnswer(
  deps: EngineDeps,
  run: TaskRun,
  { turn, request }: BegunTurn,
  { answer, cost, ms, spending }: FullAnswer & { readonly spending: Spending },
): void {
  spending.answered(cost);
  const { reason, repairs } = answer;
  const mayCall = request.toolChoice === 'auto' && reason !== 'content_filter';
  const message = mayCall
    ? withMentioned(deps, run, { message: answer.message, turn })
    : answer.message;
  run.journal.record({
    type: 'turn.ended',
    turn,
    message,
    ...cost,
    reason,
    ms,
    ...(repairs === undefined ? {} : { repairs }),
  });
  run.calls.remember(message);
}

/** Tells a task, in the request that follows, of the caps that it has used much of. */
function tellUse({ clock }: Pick<EngineDeps, 'clock'>, run: TaskRun): void {
  const { activation, conversation } = run.state;
  const due = dueNotices(capsInUse(run, clock), {
    activation: activation.number,
    told: conversation.inputIds,
  });
  for (const { id, text } of due) {
    run.journal.record({ type: 'input.queued', input: createNotice(id, text) });
  }
}
