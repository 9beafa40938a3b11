import { computeAnswerCost, failedAnswerCost, answerExpense } from './request-budget.ts';
import type { EngineDeps } from '../task/deps.ts';
import { NO_USAGE } from '../../protocol/model.ts';
import { summaryMessages } from '../../protocol/state/compaction.ts';
import { getRequestBase } from './request.ts';
import { StreamedResponse } from './streamed-response.ts';
import type { TaskRun } from '../task/task-run.ts';

/**
 * Books what an answer has used that had begun when the process died that asked for it: the provider
 * charges for it, and nobody heard its end. How much of it came is not known; its prompt is.
 */
export async function bookAbandonedResponse(deps: EngineDeps, run: TaskRun): Promise<void> {
  const { journal, state } = run;
  if (state.openTurn?.accepted !== true) return;
  const { turn } = state.openTurn;
  const { model, prefix } = getRequestBase(run);
  const streamed = new StreamedResponse();
  streamed.markAccepted();
  const failure = {
    kind: 'cancelled',
    message: 'the process that asked ended before the answer did',
    retryable: true,
  } as const;
  const { conversation } = state;
  const messages = summaryMessages(conversation) ?? conversation.messages;
  const failed = { type: 'failed', failure } as const;
  const estimated = streamed.estimate({ prefix, messages }, failed);
  const answer = { ...failed, ...(estimated === null ? {} : { estimated }) };
  const cost = await computeAnswerCost(deps, { model }, answer);
  run.cancellation.turnSignal.throwIfAborted();
  run.budget.recover(answerExpense(cost));
  journal.record({
    type: 'turn.retried',
    turn,
    attempt: 0,
    failure,
    waitMs: 0,
    ...failedAnswerCost(cost),
  });
}

/** Leaves a request that the process died in, what it has used booked. */
export async function closeTurn(
  deps: EngineDeps,
  run: TaskRun,
  { turn, because }: { readonly turn: number; readonly because: string },
): Promise<void> {
  await bookAbandonedResponse(deps, run);
  const failure = { kind: 'cancelled', message: because, retryable: false } as const;
  run.journal.record({ type: 'turn.failed', turn, failure, usage: NO_USAGE });
}
