import type { ContextSize } from '../../protocol/events/compaction-event.ts';
import { modelName, type ModelDetails } from '../../protocol/model.ts';
import { addExpenses } from '../limits/budget.ts';
import type { EngineDeps, CompactionStep } from '../task/deps.ts';
import { limitMessage } from '../limits/limit-message.ts';
import { estimateInput, minimumExpense, estimateRequestNeed } from '../limits/estimate.ts';
import { findUnpricedCap } from '../turn/request-budget.ts';
import type { TaskRun } from '../task/task-run.ts';
import {
  chooseCompaction,
  findHeadCut,
  DEFAULT_COMPACT_AT,
  MAX_SAID_SHARE,
  countFreedTokens,
  compactionTrigger,
  type CompactionChoice,
  type SummaryObstacle,
  type WindowLimits,
} from './choose-compaction.ts';
import {
  measureContext,
  estimateRequestSize,
  type ResultLayout,
  type ContextLayout,
} from './context-layout.ts';
import {
  formatClearedLine,
  buildHeadTexts,
  formatEventReference,
  buildSummaryPrompt,
} from './compaction-texts.ts';

/** The tokens reserved for an answer if the output limit of a model is unknown. */
const DEFAULT_OUTPUT = 8_192;
/**
 * A first request with fewer tokens is sent without waiting for the catalogue: nothing could be removed from it.
 */
const SMALL_FIRST_REQUEST = 24_000;

/** Decides what a task's next request needs to stay within its model's window, as the log will record it. */
export async function chooseCompactionStep(
  deps: EngineDeps,
  run: TaskRun,
): Promise<CompactionStep> {
  const { state, prefix, spec } = run;
  const { conversation } = state;
  const { compaction } = conversation;
  if (conversation.messages.length === 0) {
    if (estimateInput(conversation, prefix) < SMALL_FIRST_REQUEST) return { kind: 'none' };
  }
  const details = await deps.models.details(spec.model);
  const limits = windowLimits(run, details);
  const trigger = compactionTrigger(limits);
  if (!compaction.hasOverflowed) {
    if (trigger === null || estimateRequestSize(conversation, prefix) <= trigger)
      return { kind: 'none' };
  }
  const layout = measureContext(conversation, prefix);
  const from = trigger ?? layout.size;
  const because = findSummaryObstacle(run, details, layout, from);
  const choice = chooseCompaction(layout, limits, compaction, because);
  return toStep(run, choice, { layout, limits, most: from * MAX_SAID_SHARE });
}

function windowLimits({ spec }: TaskRun, { contextWindow, maxOutput }: ModelDetails): WindowLimits {
  return {
    window: contextWindow,
    output: maxOutput ?? DEFAULT_OUTPUT,
    compactAt: spec.agent.compactAt ?? DEFAULT_COMPACT_AT,
  };
}

/** Returns why no summary can be asked for: the remaining budget must suffice for it and for the turn after it. */
function findSummaryObstacle(
  { budget, spec }: TaskRun,
  details: ModelDetails,
  layout: ContextLayout,
  from: number,
): SummaryObstacle {
  if (!budget.isBounded) return null;
  const { size } = layout;
  const after = size - (findHeadCut(layout, from)?.freed ?? 0);
  const least = (input: number) => minimumExpense(estimateRequestNeed(input, details));
  const both = addExpenses(least(size), least(after));
  const hit = findUnpricedCap(budget, spec.model, details) ?? budget.findExceededCap(both);
  return hit === null ? null : limitMessage(hit);
}

interface StepContext {
  readonly layout: ContextLayout;
  readonly limits: WindowLimits;
  /** The maximum number of tokens of earlier inputs that are kept. */
  readonly most: number;
}

function toStep(run: TaskRun, choice: CompactionChoice, measured: StepContext): CompactionStep {
  const { layout, limits, most } = measured;
  const { state } = run;
  const sized = (freed: number, waiting = layout.waiting): ContextSize => ({
    before: layout.size,
    after: Math.max(0, layout.size - freed),
    waiting,
    window: limits.window,
  });
  switch (choice.kind) {
    case 'none':
      return choice;
    case 'clear': {
      const { results } = choice;
      const cleared = countFreedTokens(results.filter(({ isWaiting }) => isWaiting));
      const size = sized(countFreedTokens(results), Math.max(0, layout.waiting - cleared));
      const calls = clearedCalls(run, results);
      return { kind: 'record', event: { type: 'context.cleared', calls, size } };
    }
    case 'drop': {
      const { upTo, freed, because } = choice;
      const head = buildHeadTexts(state, upTo, { most, isSummarised: false });
      const size = sized(freed);
      return { kind: 'record', event: { type: 'context.dropped', upTo, head, because, size } };
    }
    case 'summarise': {
      const { upTo, freed } = choice;
      return {
        kind: 'summarise',
        event: buildSummaryStarted(run, upTo, { size: sized(freed), most, keep: null }),
      };
    }
    case 'stuck': {
      const { window } = limits;
      if (window === null || state.conversation.compaction.hasOverflowed) {
        return { kind: 'stuck', hit: null };
      }
      return { kind: 'stuck', hit: { limit: 'context_window', value: window, used: layout.size } };
    }
    default:
      return choice satisfies never;
  }
}

/**
 * Plans a summary that the user asks for; null if there is too little to summarize.
 *
 * @param keep what the user wants to be kept
 */
export async function planSummary(
  deps: EngineDeps,
  run: TaskRun,
  keep: string | null,
): Promise<Extract<CompactionStep, { kind: 'summarise' }> | null> {
  const { contextWindow: window } = await deps.models.details(run.spec.model);
  const layout = measureContext(run.state.conversation, run.prefix);
  const cut = findHeadCut(layout, layout.size);
  if (cut === null) return null;
  const { size: before, waiting } = layout;
  const size = { before, after: Math.max(0, before - cut.freed), waiting, window };
  const most = before * MAX_SAID_SHARE;
  return { kind: 'summarise', event: buildSummaryStarted(run, cut.upTo, { size, most, keep }) };
}

function buildSummaryStarted(
  { state, spec }: TaskRun,
  upTo: number,
  {
    size,
    most,
    keep,
  }: { readonly size: ContextSize; readonly most: number; readonly keep: string | null },
) {
  return {
    type: 'summary.started',
    turn: state.turns + 1,
    upTo,
    head: buildHeadTexts(state, upTo, { most, isSummarised: true }),
    ask: buildSummaryPrompt(keep),
    model: modelName(spec.model),
    // The same choice as in the turns: another one would keep the provider's cache from serving the history.
    toolChoice: state.conversation.compaction.failures === 0 ? 'auto' : 'none',
    size,
  } as const;
}

function clearedCalls({ state, spec, view }: TaskRun, results: readonly ResultLayout[]) {
  const { resultEvents } = state.conversation.compaction;
  return results.map((result) => {
    const seq = resultEvents.get(result.callId);
    const event =
      seq === undefined || !view.has('TaskOutput') ? null : formatEventReference(spec.id, seq);
    const text = formatClearedLine(result, { event, isNew: result.age === 0 });
    return { callId: result.callId, text };
  });
}
