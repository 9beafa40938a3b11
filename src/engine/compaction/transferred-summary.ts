import { deferred, onAbort } from '../../base/async.ts';
import { isSummaryTransferDue } from '../../protocol/state/compaction.ts';
import type { SummarizedConversation } from '../../protocol/initial-context.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import { modelName } from '../../protocol/model.ts';
import type { CompactionStep, EngineDeps } from '../task/deps.ts';
import { summarize } from './summarize.ts';
import { estimatePrompt } from '../limits/estimate.ts';
import { bookAbandonedResponse } from '../turn/abandoned-response.ts';
import type { TaskRun } from '../task/task-run.ts';
import { summaryKey, summaryInLogs } from './sibling-summary.ts';
import type { SummaryText } from '../task/task-tree.ts';
import { TRANSFER_SUMMARY_PROMPT, TRANSFER_SUMMARY_LEAD, stopgapText } from './summary-texts.ts';

/** Of one that no answer came to, there are two at once: see `Compaction.failures`. */
const MOST_FAILURES = 2;
/** Tokens that a summary is taken to have. */
const USUAL_SUMMARY = 1_500;

/**
 * Gets a task the summary of its parent's conversation that it is to begin with: the first of those that one
 * message has made asks for it, and the others wait for that. Whatever comes of it, something stands in the log
 * afterwards: the summary, or what was said last. Rejects when the task is stopped.
 */
export async function transferSummary(deps: EngineDeps, run: TaskRun): Promise<void> {
  // One that was begun before a crash may be a sibling's to ask for now.
  await bookAbandonedResponse(deps, run);
  if (deps.compaction !== undefined) return asLogged(deps, run, deps.compaction());
  const { handover } = run.state.conversation;
  if (handover === null) return;
  const found = await ofSibling(deps, run, handover.of);
  if ('text' in found) {
    run.journal.record(...handedEvents(found));
    return;
  }
  let text: SummaryText | null = null;
  try {
    text = await ask(deps, run, handover.of);
  } finally {
    found.give(text);
  }
}

/** A task that asks for all of its message. */
interface Lead {
  /** Null: nothing that holds for the others. */
  give(handed: SummaryText | null): void;
}

function lead({ tree: { summaries } }: TaskRun, of: SummarizedConversation): Lead {
  const key = summaryKey(of);
  const asked = deferred<SummaryText | null>();
  summaries.set(key, asked.promise);
  return {
    give: (handed) => {
      if (handed === null && summaries.get(key) === asked.promise) summaries.delete(key);
      asked.resolve(handed);
    },
  };
}

/** In a rerun: what the log has next. */
async function asLogged(deps: EngineDeps, run: TaskRun, step: CompactionStep): Promise<void> {
  switch (step.kind) {
    case 'record':
      run.journal.record(step.event);
      return;
    case 'summarise':
      return summarize(deps, run, step.event);
    case 'none':
      if (run.state.openTurn !== null) return summarize(deps, run, null);
      return untilStopped(run.cancellation.signal);
    case 'stuck':
      // It waited for a sibling until it was stopped.
      return untilStopped(run.cancellation.signal);
    default:
      return step satisfies never;
  }
}

/** What another task has come by, or comes by while this one waits, without its slot; else it leads itself. */
async function ofSibling(
  deps: EngineDeps,
  run: TaskRun,
  of: SummarizedConversation,
): Promise<SummaryText | Lead> {
  const key = summaryKey(of);
  let isTold = false;
  for (;;) {
    const asked = run.tree.summaries.get(key);
    // In the same moment: the next one must see that this one asks.
    if (asked === undefined) return summaryInLogs(deps, run, of) ?? lead(run, of);
    if (!isTold) run.journal.record({ type: 'task.held', because: WAITS });
    isTold = true;
    run.slot.release();
    const handed = await orAborted(asked, run.cancellation.signal);
    await run.slot.take();
    if (handed !== null) return handed;
  }
}

const WAITS = 'the summary of the conversation, which another task has asked for';

/** Null: what came of it holds for this task alone. */
async function ask(
  deps: EngineDeps,
  run: TaskRun,
  of: SummarizedConversation,
): Promise<SummaryText | null> {
  const { state, journal, spec } = run;
  for (;;) {
    const { compaction, handover } = state.conversation;
    if (!isSummaryTransferDue(state.conversation)) {
      const text = handover?.text ?? null;
      return text === null ? null : { text, from: spec.id, because: null };
    }
    const isLost = of.messages.length === 0;
    if (!isLost && compaction.failures < MOST_FAILURES) {
      await summarize(deps, run, state.openTurn === null ? await beginning(deps, run, of) : null);
      continue;
    }
    const { failure } = state.activation;
    const because = isLost ? LOST : (failure?.message ?? NONE_CAME);
    const handed = { text: stopgapText(of), from: null, because };
    journal.record(...handedEvents(handed));
    return failure?.kind === 'cancelled' ? null : handed;
  }
}

const LOST = 'what was said in it is lost';
const NONE_CAME = 'the answers that came to it are none';

/** The parent is told of it, too: its subagent knows less than it was to. */
function handedEvents(handed: SummaryText): readonly EventBody[] {
  const event = { type: 'context.handed', ...handed } as const;
  if (handed.from !== null) return [event];
  const instead = handed.because === LOST ? '' : '. The task was given what was said in it last';
  const message = `no summary of the conversation could be had: ${handed.because}${instead}`;
  return [event, { type: 'warning', message }];
}

async function beginning({ models }: EngineDeps, run: TaskRun, of: SummarizedConversation) {
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
    // As its turns were asked: another choice would keep a provider's cache from serving them.
    toolChoice: conversation.compaction.failures === 0 ? 'auto' : 'none',
    size: { before, after: USUAL_SUMMARY, waiting: 0, window: contextWindow },
    of: of.task,
  } as const;
}

function untilStopped(signal: AbortSignal): Promise<never> {
  return orAborted(new Promise<never>(() => {}), signal);
}

async function orAborted<T>(asked: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = deferred<never>();
  const forget = onAbort(signal, () => aborted.reject(signal.reason));
  return Promise.race([asked, aborted.promise]).finally(forget);
}
