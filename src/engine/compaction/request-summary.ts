import {
  messagesToSummarize,
  summaryMessages,
  type Compaction,
} from '../../protocol/state/compaction.ts';
import type { ContextSize } from '../../protocol/events/compaction-event.ts';
import type { Conversation } from '../../protocol/state/conversation.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import { messageText, toolCalls, userMessage, type Message } from '../../protocol/message.ts';
import { drawNonce } from '../../protocol/outside-text.ts';
import { NO_USAGE, type RequestPrefix } from '../../protocol/model.ts';
import { requestWithRetries, type FinishedAnswer } from '../turn/request-with-retries.ts';
import { buildRequest, getRequestBase, type RequestPart } from '../turn/request.ts';
import type { EngineDeps } from '../task/deps.ts';
import { estimateTokensUnrounded } from '../../base/token-estimate.ts';
import { estimateInput, estimatePrompt, type NextRequest } from '../limits/estimate.ts';
import { limitMessage } from '../limits/limit-message.ts';
import { bookAbandonedResponse } from '../turn/streamed-response.ts';
import { RequestBudget } from '../turn/request-budget.ts';
import type { TaskRun } from '../task/task-run.ts';

type SummaryStarted = Extract<EventBody, { type: 'summary.started' }>;

/**
 * Requests a summary of the beginning of the task's conversation, or of the parent's conversation if the task starts
 * with such a summary. The request goes to the model of that conversation, with the prefix and the messages that were
 * sent before, so that the provider's cache serves them. The log records the outcome. Returns the summary; null if there is
 * none. Rejects when the task is stopped.
 *
 * @param newSummary the event that starts the summary; null if it was recorded before a crash, and the request is
 *   repeated unchanged
 */
export async function requestSummary(
  deps: EngineDeps,
  run: TaskRun,
  newSummary: SummaryStarted | null,
): Promise<string | null> {
  const { state, journal } = run;
  let summary: string | null = null;
  await bookAbandonedResponse(deps, run);
  const details = run.budget.isBounded
    ? await deps.models.details(getRequestBase(run).model)
    : null;
  const requestBudget = new RequestBudget(run, details, {
    conversation: buildNextRequest(run, newSummary),
  });
  try {
    const shortfall = await requestBudget.reserve();
    if (shortfall !== null) {
      recordUnaffordableSummary(run, newSummary, limitMessage(shortfall.hit));
      return null;
    }
    await run.slot.take();
    run.cancellation.turnSignal.throwIfAborted();
    // In a rerun, the logged event already contains the cap.
    const outputCap = deps.compaction === undefined ? requestBudget.outputCap : null;
    if (newSummary !== null) {
      journal.record({ ...newSummary, ...(outputCap === null ? {} : { outputCap }) });
    }
    const { openTurn } = state;
    const messages = summaryMessages(state.conversation);
    if (openTurn === null || messages === null) return null;
    const { turn, toolChoice } = openTurn;
    const request = buildRequest(deps, run, { messages, toolChoice, outputCap });
    const recordAnswer = (finished: FinishedAnswer): void => {
      // A summary is not a turn, so its cost must not count as the measured cost of a turn.
      requestBudget.settleFailure(finished.cost);
      const outcome = toOutcome(run, turn, finished);
      journal.record(outcome);
      if (outcome.type === 'context.summarised') ({ summary } = outcome);
    };
    await requestWithRetries(
      deps,
      run,
      { turn, request, isSummary: true },
      { requestBudget, recordAnswer },
    );
    run.cancellation.turnSignal.throwIfAborted();
    return summary;
  } finally {
    requestBudget.release();
  }
}

/** Builds the request for the summary, so that its expense can be reserved before it is sent. */
function buildNextRequest(
  { state: { conversation } }: TaskRun,
  newSummary: SummaryStarted | null,
): NextRequest {
  const { upTo, ask } = newSummary ?? conversation.compaction.open ?? { upTo: 0, ask: '' };
  const request: Message = userMessage(ask);
  return {
    messages: [...messagesToSummarize(conversation).slice(0, upTo), request],
    results: NO_RESULTS,
    queued: [],
  };
}

const NO_RESULTS: NextRequest['results'] = new Map();

/** Records a summary that the budget does not allow, so that it is not requested again. */
function recordUnaffordableSummary(
  { journal, state }: TaskRun,
  newSummary: SummaryStarted | null,
  reason: string,
): void {
  if (newSummary !== null) journal.record(newSummary);
  const turn = state.openTurn?.turn ?? state.turns + 1;
  const failure = { kind: 'cancelled', message: reason, retryable: false } as const;
  journal.record({ type: 'turn.failed', turn, failure, usage: NO_USAGE });
}

/** Builds the event that records an answer as the summary, or as an answer that can't be used. */
function toOutcome(run: TaskRun, turn: number, { answer, cost, ms }: FinishedAnswer): EventBody {
  const { message, reason } = answer;
  const fault = findSummaryFault(run.state.conversation, { message, reason });
  if (fault !== null) {
    return { type: 'summary.refused', turn, because: fault, message, ...cost, reason, ms };
  }
  const summary = messageText(message).trim();
  const ended = { type: 'context.summarised', turn, summary, ...cost, reason, ms } as const;
  const { open } = run.state.conversation.compaction;
  if (open === null) throw new Error('no summary was requested');
  if (!open.isOfParent) return { ...ended, size: measureAfterSummary(run, open, summary) };
  const size = { ...open.size, after: Math.ceil(estimateTokensUnrounded(summary)) };
  return { ...ended, size, nonce: drawNonce(summary) };
}

/** Returns why an answer can't be used as the summary; null if it can. */
function findSummaryFault(
  conversation: Conversation,
  { message, reason }: Pick<FinishedAnswer['answer'], 'message' | 'reason'>,
): string | null {
  if (toolCalls(message).length > 0) return 'it calls tools';
  if (reason === 'content_filter') return "the provider's content filter ended it";
  const summary = messageText(message).trim();
  if (summary === '') return 'it is empty';
  const { open } = conversation.compaction;
  if (open === null) return null;
  const newLength = [...open.head, summary].reduce((sum, text) => sum + text.length, 0);
  const replaced = countCharacters(messagesToSummarize(conversation).slice(0, open.upTo));
  return newLength < replaced ? null : 'it is longer than what it would replace';
}

function countCharacters(messages: readonly Message[]): number {
  const parts = messages.flatMap(({ content }): readonly RequestPart[] => content);
  return parts.reduce((sum, part) => {
    const text = part.type === 'tool_call' ? JSON.stringify(part.input) : part.text;
    return sum + text.length;
  }, 0);
}

/** Estimates the context size after the summary, scaled by the same ratio as the size before the summary. */
function measureAfterSummary(
  { state, prefix }: TaskRun,
  open: NonNullable<Compaction['open']>,
  summary: string,
): ContextSize {
  const { conversation } = state;
  const { messages } = conversation;
  const { size } = open;
  const replaced = estimatePrompt(NO_PREFIX, messages.slice(0, open.upTo));
  const newTokens = [...open.head, summary].reduce(
    (sum, text) => sum + estimateTokensUnrounded(text),
    0,
  );
  const ratio = size.before / Math.max(1, estimateInput(conversation, prefix));
  const after = Math.round(size.before - (replaced - newTokens) * ratio);
  return { ...size, after: Math.max(0, after) };
}

const NO_PREFIX: RequestPrefix = { system: [], tools: [] };
