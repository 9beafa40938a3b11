import { isSummaryTransferDue } from '../../protocol/state/compaction.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';
import type { EngineDeps } from '../task/deps.ts';
import * as endings from '../task/endings.ts';
import type { TaskRun } from '../task/task-run.ts';
import { chooseCompactionStep, planSummary } from './choose-step.ts';
import { runHooks } from '../hooks/run-hooks.ts';
import { runCompactedHooks } from '../hooks/task-hooks.ts';
import { requestSummary } from './request-summary.ts';
import { UsageError } from '../../base/errors.ts';
import { unansweredCalls } from '../../protocol/state/conversation.ts';
import type { TaskEnding } from '../task/endings.ts';

/**
 * The maximum number of turns in a row that need a compaction. A task whose every result fills the window forgets as
 * much as it learns, and pays for a summary at each step.
 */
const MAX_COMPACTIONS = 50;

/** The outcome of checking the size of a task's next request. */
export type RoomOutcome =
  /** The request can be sent. */
  | { readonly kind: 'enough' }
  /** The context was changed, and its size has to be checked again. */
  | { readonly kind: 'changed' }
  /** The request can't be made to fit, so the task ends. */
  | { readonly kind: 'none'; readonly ending: TaskEnding };

/**
 * Does the next compaction that keeps the next request within its model's window, if one is needed. Rejects when the
 * task is stopped.
 */
export async function makeRoom(deps: EngineDeps, run: TaskRun): Promise<RoomOutcome> {
  const { state, journal } = run;
  if (isSummaryTransferDue(state.conversation)) {
    const { obtainTransferSummary } = await import('./transferred-summary.ts');
    await obtainTransferSummary(deps, run);
    return { kind: 'changed' };
  }
  if (state.openTurn !== null) {
    // A request that started before a crash is repeated unchanged.
    if (!state.openTurn.isSummary) return { kind: 'enough' };
    await requestSummary(deps, run, null);
    return { kind: 'changed' };
  }
  const step = await (deps.compaction?.() ?? chooseCompactionStep(deps, run));
  run.cancellation.turnSignal.throwIfAborted();
  if (step.kind === 'none') return { kind: 'enough' };
  const { compactedTurns, isCompacted } = state.activation;
  if (step.kind !== 'stuck' && !isCompacted && compactedTurns >= MAX_COMPACTIONS) {
    return endAtLimit(run, { limit: 'compactions', value: MAX_COMPACTIONS, used: compactedTurns });
  }
  switch (step.kind) {
    case 'record':
      journal.record(step.event);
      return { kind: 'changed' };
    case 'summarise':
      await summarizeWithHooks(deps, run, step.event, { trigger: 'auto', custom_instructions: '' });
      return { kind: 'changed' };
    case 'stuck':
      return step.hit === null ? endIfRefused(run) : endAtLimit(run, step.hit);
    default:
      return step satisfies never;
  }
}

function endAtLimit({ state, journal }: TaskRun, hit: LimitHit): RoomOutcome {
  journal.record({ type: 'limit.reached', ...hit });
  return { kind: 'none', ending: endings.endByLimit(state, hit) };
}

/** Ends the task with the provider's failure if the provider refused the request as too large. */
function endIfRefused({ state }: TaskRun): RoomOutcome {
  const { failure } = state.activation;
  if (failure === null || !state.conversation.compaction.hasOverflowed) return { kind: 'enough' };
  return { kind: 'none', ending: endings.endFailedByModel(state, failure) };
}

/**
 * Summarizes the context of a task once, whatever its size. Rejects when the task is stopped, and with UsageError if
 * there is nothing to summarize.
 *
 * @param keep what the user wants the summary to keep; null if nothing is named
 */
export async function compactNow(
  deps: EngineDeps,
  run: TaskRun,
  keep: string | null,
): Promise<void> {
  if (run.state.openTurn !== null) return void (await requestSummary(deps, run, null));
  const step = deps.compaction?.() ?? (await planSummary(deps, run, keep));
  if (step?.kind !== 'summarise') throw createNothingToSummarizeError(run);
  const fields = { trigger: 'manual', custom_instructions: keep ?? '' } as const;
  await summarizeWithHooks(deps, run, step.event, fields);
}

/** Summarizes the context. Hooks are told before, which they cannot prevent, and afterwards. */
async function summarizeWithHooks(
  deps: EngineDeps,
  run: TaskRun,
  event: Parameters<typeof requestSummary>[2],
  fields: { readonly trigger: 'auto' | 'manual'; readonly custom_instructions: string },
): Promise<void> {
  const { trigger } = fields;
  await runHooks(deps, run, { event: 'PreCompact', matched: trigger, fields });
  run.cancellation.turnSignal.throwIfAborted();
  const summary = await requestSummary(deps, run, event);
  if (summary !== null) await runCompactedHooks(deps, run, { trigger, summary });
}

/** Rejects with UsageError if the task can't be compacted now, or if there is nothing to summarize. */
export async function assertCompactable(deps: EngineDeps, run: TaskRun): Promise<void> {
  const { id } = run.spec;
  const { end, openTurn, conversation } = run.state;
  if (end === null) {
    const message = `task ${id} has not ended. Continue it with \`muster tasks resume ${id}\`: it makes room in its context when that is needed`;
    throw new UsageError(message);
  }
  if (openTurn !== null || unansweredCalls(conversation).length > 0) {
    const message = `task ${id} ended in the middle of a turn. First continue it with a message: \`muster tasks resume ${id} TEXT\``;
    throw new UsageError(message);
  }
  if ((await planSummary(deps, run, null)) === null) throw createNothingToSummarizeError(run);
}

function createNothingToSummarizeError({ spec, state }: TaskRun): UsageError {
  const message = `task ${spec.id} has nothing to summarize: its ${state.conversation.messages.length} messages are too few, or too short`;
  return new UsageError(message);
}
