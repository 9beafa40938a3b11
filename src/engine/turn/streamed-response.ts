import { toolCalls } from '../../protocol/message.ts';
import {
  type ModelRequest,
  type ProgressPart,
  type Usage,
  NO_USAGE,
} from '../../protocol/model.ts';
import { type FinalPart, getRequestBase } from './request.ts';
import { estimatePrompt, estimateTokensByLength } from '../limits/estimate.ts';
import { estimateTokensUnrounded } from '../../base/token-estimate.ts';
import { computeAnswerCost, failedAnswerCost, answerExpense } from './request-budget.ts';
import type { EngineDeps } from '../task/deps.ts';
import { summaryMessages } from '../../protocol/state/compaction.ts';
import type { TaskRun } from '../task/task-run.ts';

/** The maximum number of UTF-16 units of an interrupted answer that are stored, so that its log line stays small. */
const MAX_KEPT_LENGTH = 65_536;

/**
 * Collects a streamed response: its text, in case the response is interrupted, and its tokens, in case the provider
 * reports no usage. Tokens are counted only on demand, because few responses need it.
 */
export class StreamedResponse {
  private isAccepted = false;
  private readonly answerText = new PartialText();
  private readonly reasoningText = new PartialText();

  markAccepted(): void {
    this.isAccepted = true;
  }

  add(part: ProgressPart): void {
    if (part.type === 'text_delta') this.answerText.add(part.text);
    else if (part.type === 'reasoning_delta') this.reasoningText.add(part.text);
  }

  /** The text of the answer, or its beginning if the text is long. */
  get text(): string {
    return this.answerText.beginning.slice(0, MAX_KEPT_LENGTH);
  }

  /**
   * Estimates the usage. Returns null if the provider had not accepted the request; nothing is charged then.
   *
   * @param last the end of the response
   */
  estimate(
    { prefix, messages }: Pick<ModelRequest, 'prefix' | 'messages'>,
    last: FinalPart,
  ): Usage | null {
    if (!this.isAccepted) return null;
    const reasoning = this.reasoningText.tokens;
    return {
      input: estimatePrompt(prefix, messages),
      output: Math.ceil(this.answerText.tokens + reasoning + countCallTokens(last)),
      cacheRead: 0,
      cacheWrite: 0,
      reasoning: Math.ceil(reasoning),
    };
  }
}

function countCallTokens(last: FinalPart): number {
  if (last.type === 'failed') return estimateTokensByLength(last.argumentCharacters ?? 0);
  return toolCalls(last.message).reduce(
    (sum, { input }) => sum + estimateTokensUnrounded(JSON.stringify(input)),
    0,
  );
}

/** A text that arrives in pieces. Only its beginning is stored. */
class PartialText {
  beginning = '';
  private length = 0;

  add(piece: string): void {
    if (this.beginning.length < MAX_KEPT_LENGTH) this.beginning += piece;
    this.length += piece.length;
  }

  /**
   * The estimated tokens of the full text. The part that is not stored is assumed to have as many tokens per
   * character as the beginning.
   */
  get tokens(): number {
    if (this.length === 0) return 0;
    return (estimateTokensUnrounded(this.beginning) * this.length) / this.beginning.length;
  }
}

/**
 * Records the estimated usage of a response that was streaming when its process died, because the provider charges
 * for it. The length of the response is unknown, so only its prompt is estimated.
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
  const used = failedAnswerCost(cost);
  journal.record({ type: 'turn.retried', turn, attempt: 0, failure, waitMs: 0, ...used });
}

/** Ends the turn whose request was open when its process died, and records the usage of that request. */
export async function closeTurn(
  deps: EngineDeps,
  run: TaskRun,
  { turn, because }: { readonly turn: number; readonly because: string },
): Promise<void> {
  await bookAbandonedResponse(deps, run);
  const failure = { kind: 'cancelled', message: because, retryable: false } as const;
  run.journal.record({ type: 'turn.failed', turn, failure, usage: NO_USAGE });
}
