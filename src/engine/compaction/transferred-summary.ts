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
import { TRANSFER_SUMMARY_PROMPT, TRANSFER_SUMMARY_LEAD, stopgapText } from './compaction-texts.ts';
import { MusterError } from '../../base/errors.ts';
import { foldLog } from '../task/fold-log.ts';

/** The maximum number of failures. A request without an answer counts twice: see `Compaction.failures`. */
const MAX_FAILURES = 2;
/** The tokens that a summary is assumed to have. */
const USUAL_SUMMARY_TOKENS = 1_500;

/**
 * Obtains the summary of the parent's conversation that a task starts with. The first task of a message requests
 * it, and the others wait for that. The log then holds the summary, or the last turns if it failed. Rejects when
 * the task is stopped.
 */
export async function obtainTransferSummary(deps: EngineDeps, run: TaskRun): Promise<void> {
  // A sibling may request the summary that this task had started before a crash.
  await bookAbandonedResponse(deps, run);
  if (deps.compaction !== undefined) return repeatStep(deps, run, deps.compaction());
  const { summaryTransfer } = run.state.conversation;
  if (summaryTransfer === null) return;
  const found = await waitForSibling(deps, run, summaryTransfer.of);
  if ('text' in found) {
    run.journal.record(...transferEvents(found));
    return;
  }
  let text: SummaryText | null = null;
  try {
    text = await requestUntilTransferred(deps, run, summaryTransfer.of);
  } finally {
    found.publish(text);
  }
}

/** The task that requests the summary for all tasks of its message. */
interface SummaryLead {
  /** Passes the summary to the waiting tasks; null if the outcome does not hold for them. */
  publish(handed: SummaryText | null): void;
}

function becomeLead({ tree: { summaries } }: TaskRun, of: SummarizedConversation): SummaryLead {
  const key = summaryKey(of);
  const asked = deferred<SummaryText | null>();
  summaries.set(key, asked.promise);
  return {
    publish: (handed) => {
      if (handed === null && summaries.get(key) === asked.promise) summaries.delete(key);
      asked.resolve(handed);
    },
  };
}

/** Repeats the next step of the log in a rerun. */
async function repeatStep(deps: EngineDeps, run: TaskRun, step: CompactionStep): Promise<void> {
  switch (step.kind) {
    case 'record':
      run.journal.record(step.event);
      return;
    case 'summarise':
      return requestSummary(deps, run, step.event);
    case 'none':
      if (run.state.openTurn !== null) return requestSummary(deps, run, null);
      return waitUntilStopped(run.cancellation.signal);
    case 'stuck':
      // The task waited for a sibling until it was stopped.
      return waitUntilStopped(run.cancellation.signal);
    default:
      return step satisfies never;
  }
}

/** Returns the summary of a sibling, after waiting without a slot, or makes this task the lead. */
async function waitForSibling(
  deps: EngineDeps,
  run: TaskRun,
  of: SummarizedConversation,
): Promise<SummaryText | SummaryLead> {
  const key = summaryKey(of);
  let isReported = false;
  for (;;) {
    const asked = run.tree.summaries.get(key);
    // Synchronous, so that the next task sees that this one requests the summary.
    if (asked === undefined) return findSummaryInLogs(deps, run, of) ?? becomeLead(run, of);
    if (!isReported) run.journal.record({ type: 'task.held', because: WAITS_FOR_SIBLING });
    isReported = true;
    run.slot.release();
    const handed = await rejectOnAbort(asked, run.cancellation.signal);
    await run.slot.take();
    if (handed !== null) return handed;
  }
}

const WAITS_FOR_SIBLING = 'the summary of the conversation, which another task has asked for';

/**
 * Requests the summary until the log holds one or its replacement. Returns null if the outcome holds for this task
 * alone.
 */
async function requestUntilTransferred(
  deps: EngineDeps,
  run: TaskRun,
  of: SummarizedConversation,
): Promise<SummaryText | null> {
  const { state, journal, spec } = run;
  for (;;) {
    const { compaction, summaryTransfer } = state.conversation;
    if (!isSummaryTransferDue(state.conversation)) {
      const text = summaryTransfer?.text ?? null;
      return text === null ? null : { text, from: spec.id, because: null };
    }
    const isLost = of.messages.length === 0;
    if (!isLost && compaction.failures < MAX_FAILURES) {
      await requestSummary(
        deps,
        run,
        state.openTurn === null ? await buildSummaryStarted(deps, run, of) : null,
      );
      continue;
    }
    const { failure } = state.activation;
    const because = isLost ? CONVERSATION_LOST : (failure?.message ?? NO_ANSWER);
    const handed = { text: stopgapText(of), from: null, because };
    journal.record(...transferEvents(handed));
    return failure?.kind === 'cancelled' ? null : handed;
  }
}

const CONVERSATION_LOST = 'what was said in it is lost';
const NO_ANSWER = 'the answers that came to it are none';

/**
 * Builds the events of a transferred summary. The parent gets a warning if its subagent knows less than intended.
 */
function transferEvents(handed: SummaryText): readonly EventBody[] {
  const event = { type: 'context.handed', ...handed } as const;
  if (handed.from !== null) return [event];
  const instead =
    handed.because === CONVERSATION_LOST ? '' : '. The task was given what was said in it last';
  const message = `no summary of the conversation could be had: ${handed.because}${instead}`;
  return [event, { type: 'warning', message }];
}

async function buildSummaryStarted(
  { models }: EngineDeps,
  run: TaskRun,
  of: SummarizedConversation,
) {
  const { contextWindow } = await models.details(of.model);
  run.cancellation.signal.throwIfAborted();
  const { turns, conversation } = run.state;
  const before = estimatePrompt(of.prefix, of.messages);
  return {
    type: 'summary.started',
    turn: turns + 1,
    upTo: of.messages.length,
    head: [TRANSFER_SUMMARY_LEAD],
    ask: TRANSFER_SUMMARY_PROMPT,
    model: modelName(of.model),
    // The same choice as in the turns: another one would keep the provider's cache from serving them.
    toolChoice: conversation.compaction.failures === 0 ? 'auto' : 'none',
    size: { before, after: USUAL_SUMMARY_TOKENS, waiting: 0, window: contextWindow },
    of: of.task,
  } as const;
}

function waitUntilStopped(signal: AbortSignal): Promise<never> {
  return rejectOnAbort(new Promise<never>(() => {}), signal);
}

/** Returns a key that all tasks of the calls of one answer share. */
function summaryKey({ task, turn, messages }: SummarizedConversation): string {
  return [task, turn, ...listCallIds({ messages })].join(' ');
}

function listCallIds({ messages }: Pick<SummarizedConversation, 'messages'>): readonly string[] {
  const last = messages.at(-1);
  return last?.role === 'tool' ? last.content.map(({ callId }) => callId) : [];
}

/** Finds the summary that a sibling got before a crash, in its log; null if none did. */
function findSummaryInLogs(
  { store, onFault }: Pick<EngineDeps, 'store' | 'onFault'>,
  { parent, spec }: TaskRun,
  of: SummarizedConversation,
): SummaryText | null {
  // Tasks that this process created share their summaries directly.
  if (parent === null || parent.state.epoch === 1) return null;
  const key = summaryKey(of);
  const calls = listCallIds(of);
  for (const [id, { callId }] of parent.state.children) {
    if (!calls.includes(callId) || id === spec.id || !store.exists(id)) continue;
    try {
      const { summaryTransfer } = foldLog(store, id).conversation;
      if (summaryTransfer?.isSummary !== true || summaryTransfer.text === null) continue;
      if (summaryKey(summaryTransfer.of) === key)
        return { text: summaryTransfer.text, from: id, because: null };
    } catch (thrown) {
      // An unreadable log gives no summary; it is requested again.
      if (!(thrown instanceof MusterError)) throw thrown;
      onFault(id, thrown);
    }
  }
  return null;
}
