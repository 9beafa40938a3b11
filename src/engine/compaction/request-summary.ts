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
 * Requests a summary of the beginning of the task's conversation, or of its parent's if that is due. The request
 * goes to the model of that conversation, with the prefix and the messages that were sent before, so that the
 * provider's cache serves them. The log records the outcome. Rejects when the task is stopped.
 *
 * @param begin null if the request started before a crash, and is repeated unchanged
 */
export async function requestSummary(
  deps: EngineDeps,
  run: TaskRun,
  begin: SummaryStarted | null,
): Promise<void> {
  const { state, journal } = run;
  await bookAbandonedResponse(deps, run);
  const details = run.budget.isBounded
    ? await deps.models.details(getRequestBase(run).model)
    : null;
  const requestBudget = new RequestBudget(run, details, {
    conversation: summarizedMessages(run, begin),
  });
  try {
    const shortfall = await requestBudget.reserve();
    if (shortfall !== null) {
      recordGivenUp(run, begin, limitMessage(shortfall.hit));
      return;
    }
    await run.slot.take();
    run.cancellation.turnSignal.throwIfAborted();
    // A rerun starts as its log did.
    const outputCap = deps.compaction === undefined ? requestBudget.outputCap : null;
    if (begin !== null) {
      journal.record({ ...begin, ...(outputCap === null ? {} : { outputCap }) });
    }
    const { openTurn } = state;
    const messages = summaryMessages(state.conversation);
    if (openTurn === null || messages === null) return;
    const { turn, toolChoice } = openTurn;
    const request = buildRequest(deps, run, { messages, toolChoice, outputCap });
    const recordAnswer = (finished: FinishedAnswer): void => {
      // A summary is no turn, and no measure of what turns cost.
      requestBudget.settleFailure(finished.cost);
      journal.record(toOutcome(run, turn, finished));
    };
    await requestWithRetries(
      deps,
      run,
      { turn, request, isSummary: true },
      { requestBudget, recordAnswer },
    );
    run.cancellation.turnSignal.throwIfAborted();
  } finally {
    requestBudget.release();
  }
}

/** Returns the messages of the request, so that its expense can be reserved. */
function summarizedMessages(
  { state: { conversation } }: TaskRun,
  begin: SummaryStarted | null,
): NextRequest {
  const { upTo, ask } = begin ?? conversation.compaction.open ?? { upTo: 0, ask: '' };
  const asked: Message = userMessage(ask);
  return {
    messages: [...messagesToSummarize(conversation).slice(0, upTo), asked],
    results: NONE,
    queued: [],
  };
}

const NONE: NextRequest['results'] = new Map();

/** Records a summary that the budget does not allow, so that it is not requested again. */
function recordGivenUp(
  { journal, state }: TaskRun,
  begin: SummaryStarted | null,
  because: string,
): void {
  if (begin !== null) journal.record(begin);
  const turn = state.openTurn?.turn ?? state.turns + 1;
  const failure = { kind: 'cancelled', message: because, retryable: false } as const;
  journal.record({ type: 'turn.failed', turn, failure, usage: NO_USAGE });
}

function toOutcome(run: TaskRun, turn: number, { answer, cost, ms }: FinishedAnswer): EventBody {
  const { message, reason } = answer;
  const because = findSummaryFault(run.state.conversation, { message, reason });
  if (because !== null) {
    return { type: 'summary.refused', turn, because, message, ...cost, reason, ms };
  }
  const summary = messageText(message).trim();
  const ended = { type: 'context.summarised', turn, summary, ...cost, reason, ms } as const;
  const { open } = run.state.conversation.compaction;
  if (open === null) throw new Error('no summary was asked for');
  if (!open.isOfParent) return { ...ended, size: measureAfterSummary(run, open, summary) };
  const size = { ...open.size, after: Math.ceil(estimateTokensUnrounded(summary)) };
  return { ...ended, size, nonce: drawNonce(summary) };
}

/** Returns why a summary cannot replace the messages; null if it can. */
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
  const place = [...open.head, summary].reduce((sum, text) => sum + text.length, 0);
  const replaced = countCharacters(messagesToSummarize(conversation).slice(0, open.upTo));
  return place < replaced ? null : 'it is longer than what it would replace';
}

function countCharacters(messages: readonly Message[]): number {
  const parts = messages.flatMap(({ content }): readonly RequestPart[] => content);
  return parts.reduce((sum, part) => {
    const text = part.type === 'tool_call' ? JSON.stringify(part.input) : part.text;
    return sum + text.length;
  }, 0);
}

/** Returns the context size after the summary, scaled as the size before it. */
function measureAfterSummary(
  { state, prefix }: TaskRun,
  open: NonNullable<Compaction['open']>,
  summary: string,
): ContextSize {
  const { conversation } = state;
  const { messages } = conversation;
  const { size } = open;
  const replaced = estimatePrompt(NO_PREFIX, messages.slice(0, open.upTo));
  const place = [...open.head, summary].reduce(
    (sum, text) => sum + estimateTokensUnrounded(text),
    0,
  );
  const ratio = size.before / Math.max(1, estimateInput(conversation, prefix));
  const after = Math.round(size.before - (replaced - place) * ratio);
  return { ...size, after: Math.max(0, after) };
}

const NO_PREFIX: RequestPrefix = { system: [], tools: [] };
