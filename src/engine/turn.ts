import { askUntilAnswered } from './ask-until-answered.ts';
import { beginTurn, type ToolChoice } from './begin-turn.ts';
import type { EngineDeps } from './deps.ts';
import { bookLostAnswer } from './lost-answer.ts';
import { expectedAmount, Spending } from './spending.ts';
import type { TaskRun } from './task-run.ts';
import type { TurnOutcome } from './turn-outcome.ts';

/**
 * One model request and its answer, retries included. Never rejects for what a provider does. What
 * waits in the queue stands in the request; the budget is reserved before it and settled after it.
 * Rejects when the task is stopped before the request is begun.
 */
export async function runTurn(
  deps: EngineDeps,
  run: TaskRun,
  toolChoice: ToolChoice,
): Promise<TurnOutcome> {
  await bookLostAnswer(deps, run);
  const amount = await expectedAmount(deps, run);
  // Without its slot: who has reserved may need one before it can settle.
  const reserved = await run.budget.reserve(amount, run.signal, () => run.giveSlot());
  if (!reserved.ok) return { kind: 'limit', hit: reserved.hit };
  const spending = new Spending();
  try {
    await run.takeSlot();
    run.signal.throwIfAborted();
    return await askUntilAnswered(deps, run, beginTurn(deps, run, toolChoice), spending);
  } finally {
    reserved.reservation.settle(spending.total);
  }
}
