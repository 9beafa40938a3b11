import { computeAnswerCost, failedAnswerCost, answerExpense } from './request-budget.ts';
import type { EngineDeps } from '../task/deps.ts';
import { NO_USAGE } from '../../protocol/model.ts';
import { summaryMessages } from '../../protocol/state/compaction.ts';
import { getRequestBase } from './request.ts';
import { StreamedResponse } from './streamed-response.ts';
import type { TaskRun } from '../task/task-run.ts';

/**
 * Books the usage of a response that was streaming when its process died: the provider charges for it. Its
 * length is unknown, so only its prompt is estimated.
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
  run.budget.addEarlierUse(answerExpense(cost));
  journal.record({
    type: 'turn.retried',
    turn,
    attempt: 0,
    failure,
    waitMs: 0,
    ...failedAnswerCost(cost),
  });
}

/** Ends the turn whose request was open when its process died, and books its usage. */
export async function closeTurn(
  deps: EngineDeps,
  run: TaskRun,
  { turn, because }: { readonly turn: number; readonly because: string },
): Promise<void> {
  await bookAbandonedResponse(deps, run);
  const failure = { kind: 'cancelled', message: because, retryable: false } as const;
  run.journal.record({ type: 'turn.failed', turn, failure, usage: NO_USAGE });
}
