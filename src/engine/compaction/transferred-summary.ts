import { rejectOnAbort, deferred } from '../../base/async.ts';
import { isSummaryTransferDue } from '../../protocol/state/compaction.ts';
import type { SummarizedConversation } from '../../protocol/initial-context.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import { modelName } from '../../protocol/model.ts';
import type { CompactionStep, EngineDeps } from '../task/deps.ts';
import { estimatePrompt } from '../limits/estimate.ts';
import { bookAbandonedResponse } from '../turn/streamed-response.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { SummaryText } from '../task/task-tree.ts';
import { requestSummary } from './request-summary.ts';
import {
  TRANSFER_SUMMARY_PROMPT,
  TRANSFER_SUMMARY_LEAD,
  buildStopgap,
} from './compaction-texts.ts';
import { MusterError } from '../../base/errors.ts';
import { foldLog } from '../task/fold-log.ts';

/** The number of failures after which no summary is requested any more. See `Compaction.failures`. */
const MAX_FAILED_TRANSFERS = 2;
/** The tokens that a summary is assumed to have. */
const ASSUMED_SUMMARY_TOKENS = 1_500;

/**
 * Obtains the summary of the parent's conversation that a task starts with. The first of the tasks that one message
 * starts requests the summary, and the others wait for it. Afterwards the log of the task contains the summary, or the
 * last turns of the conversation if no summary could be written. Rejects when the task is stopped.
 */
export async function obtainTransferSummary(deps: EngineDeps, run: TaskRun): Promise<void> {
  // A request that this task started before a crash is booked and closed, since a sibling may request the summary now.
  await bookAbandonedResponse(deps, run);
  if (deps.compaction !== undefined) return rerunStep(deps, run, deps.compaction());
  const { summaryTransfer } = run.state.conversation;
  if (summaryTransfer === null) return;
  const result = await waitForSiblingOrLead(deps, run, summaryTransfer.of);
  if ('text' in result) {
    run.journal.record(...buildTransferEvents(result));
    return;
  }
  let text: SummaryText | null = null;
  try {
    text = await requestUntilTransferred(deps, run, summaryTransfer.of);
  } finally {
    result.publish(text);
  }
}

/** The means by which the task that requests the summary passes it to its siblings. */
interface SummaryLead {
  /** Passes the summary to the waiting tasks. With null, one of them requests a summary again. */
  publish(summary: SummaryText | null): void;
}

/** Makes this task request the summary. From now on its siblings wait for that. */
function becomeLead(
  { tree: { summaries } }: TaskRun,
  conversation: SummarizedConversation,
): SummaryLead {
  const key = summaryKey(conversation);
  const requested = deferred<SummaryText | null>();
  summaries.set(key, requested.promise);
  return {
    publish: (summary) => {
      if (summary === null && summaries.get(key) === requested.promise) summaries.delete(key);
      requested.resolve(summary);
    },
  };
}

/** Does in a rerun what the log has next. */
async function rerunStep(deps: EngineDeps, run: TaskRun, step: CompactionStep): Promise<void> {
  switch (step.kind) {
    case 'record':
      run.journal.record(step.event);
      return;
    case 'summarise':
      return void (await requestSummary(deps, run, step.event));
    case 'none':
      if (run.state.openTurn !== null) return void (await requestSummary(deps, run, null));
      return waitUntilStopped(run.cancellation.signal);
    case 'stuck':
      // The task waited for a sibling until it was stopped.
      return waitUntilStopped(run.cancellation.signal);
    default:
      return step satisfies never;
  }
}

/**
 * Returns the summary of a sibling after a wait without a slot. If no sibling requests it, makes this task the lead.
 */
async function waitForSiblingOrLead(
  deps: EngineDeps,
  run: TaskRun,
  conversation: SummarizedConversation,
): Promise<SummaryText | SummaryLead> {
  const key = summaryKey(conversation);
  let isReported = false;
  for (;;) {
    const requested = run.tree.summaries.get(key);
    // Nothing is awaited here, so that only one task becomes the lead.
    if (requested === undefined)
      return findSummaryInLogs(deps, run, conversation) ?? becomeLead(run, conversation);
    if (!isReported) run.journal.record({ type: 'task.held', because: WAITS_FOR_SIBLING });
    isReported = true;
    run.slot.release();
    const summary = await rejectOnAbort(requested, run.cancellation.signal);
    await run.slot.take();
    if (summary !== null) return summary;
  }
}

const WAITS_FOR_SIBLING = 'the summary of the conversation, which another task has asked for';

/**
 * Requests the summary until the log contains a summary or the text that replaces it. Returns null if the outcome
 * concerns this task alone, because its own budget ran out or its request was cancelled.
 */
async function requestUntilTransferred(
  deps: EngineDeps,
  run: TaskRun,
  conversation: SummarizedConversation,
): Promise<SummaryText | null> {
  const { state, journal, spec } = run;
  for (;;) {
    const { compaction, summaryTransfer } = state.conversation;
    if (!isSummaryTransferDue(state.conversation)) {
      const text = summaryTransfer?.text ?? null;
      return text === null ? null : { text, from: spec.id, because: null };
    }
    const isLost = conversation.messages.length === 0;
    if (!isLost && compaction.failures < MAX_FAILED_TRANSFERS) {
      await requestSummary(
        deps,
        run,
        state.openTurn === null ? await buildSummaryStarted(deps, run, conversation) : null,
      );
      continue;
    }
    const { failure } = state.activation;
    const because = isLost ? CONVERSATION_LOST : (failure?.message ?? NO_USABLE_ANSWER);
    const replacement = { text: buildStopgap(conversation), from: null, because };
    journal.record(...buildTransferEvents(replacement));
    return failure?.kind === 'cancelled' ? null : replacement;
  }
}

const CONVERSATION_LOST = 'its messages are lost';
const NO_USABLE_ANSWER = 'none of the answers could be used';

/** Builds the events for a transferred summary. If there is none, a warning informs the parent of that. */
function buildTransferEvents(summary: SummaryText): readonly EventBody[] {
  const event = { type: 'context.handed', ...summary } as const;
  if (summary.from !== null) return [event];
  const instead =
    summary.because === CONVERSATION_LOST ? '' : '. The task got its last turns instead';
  const message = `the conversation could not be summarized: ${summary.because}${instead}`;
  return [event, { type: 'warning', message }];
}

async function buildSummaryStarted(
  { models }: EngineDeps,
  run: TaskRun,
  conversation: SummarizedConversation,
) {
  const { contextWindow } = await models.details(conversation.model);
  run.cancellation.signal.throwIfAborted();
  const { state } = run;
  const before = estimatePrompt(conversation.prefix, conversation.messages);
  return {
    type: 'summary.started',
    turn: state.turns + 1,
    upTo: conversation.messages.length,
    head: [TRANSFER_SUMMARY_LEAD],
    ask: TRANSFER_SUMMARY_PROMPT,
    model: modelName(conversation.model),
    // The turns of this conversation have the same choice, and with another one the provider's cache would not serve
    // them. After a failure, calls are forbidden all the same, since the failed answer may have consisted of calls.
    toolChoice: state.conversation.compaction.failures === 0 ? 'auto' : 'none',
    size: { before, after: ASSUMED_SUMMARY_TOKENS, waiting: 0, window: contextWindow },
    of: conversation.task,
  } as const;
}

function waitUntilStopped(signal: AbortSignal): Promise<never> {
  return rejectOnAbort(new Promise<never>(() => {}), signal);
}

/** Returns a key that is the same for all tasks that the calls of one answer start. */
function summaryKey({ task, turn, messages }: SummarizedConversation): string {
  return [task, turn, ...listCallIds({ messages })].join(' ');
}

function listCallIds({ messages }: Pick<SummarizedConversation, 'messages'>): readonly string[] {
  const last = messages.at(-1);
  return last?.role === 'tool' ? last.content.map(({ callId }) => callId) : [];
}

/** Finds a summary that a sibling recorded before a crash; null if no sibling did. */
function findSummaryInLogs(
  { store, onFault }: Pick<EngineDeps, 'store' | 'onFault'>,
  { parent, spec }: TaskRun,
  conversation: SummarizedConversation,
): SummaryText | null {
  // Tasks that this process created share their summaries directly.
  if (parent === null || parent.state.epoch === 1) return null;
  const key = summaryKey(conversation);
  const calls = listCallIds(conversation);
  for (const [id, { callId }] of parent.state.children) {
    if (!calls.includes(callId) || id === spec.id || !store.exists(id)) continue;
    try {
      const { summaryTransfer } = foldLog(store, id).conversation;
      if (summaryTransfer?.isSummary !== true || summaryTransfer.text === null) continue;
      if (summaryKey(summaryTransfer.of) === key)
        return { text: summaryTransfer.text, from: id, because: null };
    } catch (thrown) {
      // If the log of the sibling can't be read, the fault is reported and the summary is requested again.
      if (!(thrown instanceof MusterError)) throw thrown;
      onFault(id, thrown);
    }
  }
  return null;
}
