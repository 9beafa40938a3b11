import { isSummaryTransferDue } from '../../protocol/state/compaction.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';
import type { EngineDeps } from '../task/deps.ts';
import * as endings from '../task/endings.ts';
import type { TaskEnding } from '../task/endings.ts';
import type { TaskRun } from '../task/task-run.ts';
import { chooseStep } from './choose-step.ts';
import { summarize } from './summarize.ts';

/**
 * Turns in a row before each of which room is made. In a window that each result fills a task forgets as
 * much as it learns, and pays for a summary at each step.
 */
const MOST_COMPACTIONS = 50;

/** What became of a look at the size of a task's next request. */
export type Room =
  /** It can go out. */
  | { readonly kind: 'enough' }
  /** Something was done about it: to be looked at once more. */
  | { readonly kind: 'changed' }
  /** It can't be made to fit. */
  | { readonly kind: 'none'; readonly ending: TaskEnding };

/**
 * Takes one step to keep the next request within its model's window, if one is needed. Rejects when the task
 * is stopped.
 */
export async function makeRoom(deps: EngineDeps, run: TaskRun): Promise<Room> {
  const { state, journal } = run;
  if (isSummaryTransferDue(state.conversation)) {
    const { transferSummary: handSummary } = await import('./transferred-summary.ts');
    await handSummary(deps, run);
    return { kind: 'changed' };
  }
  if (state.openTurn !== null) {
    // A request that was begun before a crash is the same again.
    if (!state.openTurn.isSummary) return { kind: 'enough' };
    await summarize(deps, run, null);
    return { kind: 'changed' };
  }
  const step = await (deps.compaction?.() ?? chooseStep(deps, run));
  run.cancellation.turnSignal.throwIfAborted();
  if (step.kind === 'none') return { kind: 'enough' };
  const { compactedTurns, isCompacted } = state.activation;
  if (step.kind !== 'stuck' && !isCompacted && compactedTurns >= MOST_COMPACTIONS) {
    return atLimit(run, { limit: 'compactions', value: MOST_COMPACTIONS, used: compactedTurns });
  }
  switch (step.kind) {
    case 'record':
      journal.record(step.event);
      return { kind: 'changed' };
    case 'summarise':
      await summarize(deps, run, step.event);
      return { kind: 'changed' };
    case 'stuck':
      return step.hit === null ? refusedAsItIs(run) : atLimit(run, step.hit);
    default:
      return step satisfies never;
  }
}

function atLimit({ state, journal }: TaskRun, hit: LimitHit): Room {
  journal.record({ type: 'limit.reached', ...hit });
  return { kind: 'none', ending: endings.endByLimit(state, hit) };
}

/** The provider has said why it can't go out. */
function refusedAsItIs({ state }: TaskRun): Room {
  const { failure } = state.activation;
  if (failure === null || !state.conversation.compaction.overflowed) return { kind: 'enough' };
  return { kind: 'none', ending: endings.endFailedByModel(state, failure) };
}
