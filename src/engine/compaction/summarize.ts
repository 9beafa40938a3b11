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
import { requestWithRetries, type FullAnswer } from '../turn/request-with-retries.ts';
import { requestOf } from '../turn/begin-turn.ts';
import type { EngineDeps } from '../task/deps.ts';
import { estimateTokensUnrounded } from '../../base/token-estimate.ts';
import { estimateInput, estimatePrompt, type NextRequest } from '../limits/estimate.ts';
import { limitMessage } from '../limits/limits.ts';
import { bookAbandonedResponse } from '../turn/abandoned-response.ts';
import { requestOrigin } from '../turn/request-origin.ts';
import type { RequestPart } from '../turn/request-parts.ts';
import { Spending } from '../turn/spending.ts';
import type { TaskRun } from '../task/task-run.ts';

type SummaryStarted = Extract<EventBody, { type: 'summary.started' }>;

/**
 * Asks for a summary of the beginning of the task's conversation, or of its parent's where that is due: the
 * model that this was held with, by the prefix and the messages that were sent before, so that a provider's
 * cache serves them. `begin` null: it was begun
 * before a crash, and is asked for again as it was. Whatever comes of it stands in the log. Rejects when
 * the task is stopped.
 */
export async function summarize(
  deps: EngineDeps,
  run: TaskRun,
  begin: SummaryStarted | null,
): Promise<void> {
  const { state, journal } = run;
  await bookAbandonedResponse(deps, run);
  const facts = run.budget.bounded ? await deps.models.facts(requestOrigin(run).model) : null;
  const spending = new Spending(run, facts, { asked: sentOf(run, begin) });
  try {
    const noRoom = await spending.reserve();
    if (noRoom !== null) {
      giveUp(run, begin, limitMessage(noRoom.hit));
      return;
    }
    await run.slot.take();
    run.cancellation.turnSignal.throwIfAborted();
    // A rerun begins as its log did.
    const outputCap = deps.compaction === undefined ? spending.outputCap : null;
    if (begin !== null) {
      journal.record({ ...begin, ...(outputCap === null ? {} : { outputCap }) });
    }
    const { openTurn } = state;
    const messages = summaryMessages(state.conversation);
    if (openTurn === null || messages === null) return;
    const { turn, toolChoice } = openTurn;
    const request = requestOf(deps, run, { messages, toolChoice, outputCap });
    const take = (whole: FullAnswer): void => {
      // No turn of the task, and no measure of what its turns take.
      spending.failed(whole.cost);
      journal.record(outcomeOf(run, turn, whole));
    };
    await requestWithRetries(deps, run, { turn, request, isSummary: true }, { spending, take });
    run.cancellation.turnSignal.throwIfAborted();
  } finally {
    spending.release();
  }
}

/** What the request holds, so that what it may cost is held back. */
function sentOf({ state: { conversation } }: TaskRun, begin: SummaryStarted | null): NextRequest {
  const { upTo, ask } = begin ?? conversation.compaction.open ?? { upTo: 0, ask: '' };
  const asked: Message = userMessage(ask);
  return {
    messages: [...messagesToSummarize(conversation).slice(0, upTo), asked],
    results: NONE,
    queued: [],
  };
}

const NONE: NextRequest['results'] = new Map();

/** The budget has no room for it, and it is not asked for again. */
function giveUp({ journal, state }: TaskRun, begin: SummaryStarted | null, because: string): void {
  if (begin !== null) journal.record(begin);
  const turn = state.openTurn?.turn ?? state.turns + 1;
  const failure = { kind: 'cancelled', message: because, retryable: false } as const;
  journal.record({ type: 'turn.failed', turn, failure, usage: NO_USAGE });
}

function outcomeOf(run: TaskRun, turn: number, { answer, cost, ms }: FullAnswer): EventBody {
  const { message, reason } = answer;
  const because = whyRefused(run.state.conversation, { message, reason });
  if (because !== null) {
    return { type: 'summary.refused', turn, because, message, ...cost, reason, ms };
  }
  const summary = messageText(message).trim();
  const ended = { type: 'context.summarised', turn, summary, ...cost, reason, ms } as const;
  const { open } = run.state.conversation.compaction;
  if (open === null) throw new Error('no summary was asked for');
  if (!open.isHandover) return { ...ended, size: sizeAfter(run, open, summary) };
  const size = { ...open.size, after: Math.ceil(estimateTokensUnrounded(summary)) };
  return { ...ended, size, nonce: drawNonce(summary) };
}

/** Null: it can stand in the place of what it tells. */
function whyRefused(
  conversation: Conversation,
  { message, reason }: Pick<FullAnswer['answer'], 'message' | 'reason'>,
): string | null {
  if (toolCalls(message).length > 0) return 'it calls tools';
  if (reason === 'content_filter') return "the provider's content filter ended it";
  const summary = messageText(message).trim();
  if (summary === '') return 'it is empty';
  const { open } = conversation.compaction;
  if (open === null) return null;
  const place = [...open.head, summary].reduce((sum, text) => sum + text.length, 0);
  const replaced = charactersOf(messagesToSummarize(conversation).slice(0, open.upTo));
  return place < replaced ? null : 'it is longer than what it would replace';
}

function charactersOf(messages: readonly Message[]): number {
  const parts = messages.flatMap(({ content }): readonly RequestPart[] => content);
  return parts.reduce((sum, part) => {
    const text = part.type === 'tool_call' ? JSON.stringify(part.input) : part.text;
    return sum + text.length;
  }, 0);
}

/** In the measure of what was counted before. */
function sizeAfter(
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
