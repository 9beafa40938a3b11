import type { ContextSize } from '../../protocol/events/compaction-event.ts';
import { modelName, type ModelDetails, type RequestPrefix } from '../../protocol/model.ts';
import { addExpenses } from '../limits/budget.ts';
import type { EngineDeps, CompactionStep } from '../task/deps.ts';
import { limitMessage } from '../limits/limit-message.ts';
import {
  estimateInput,
  maxFirstInput,
  minimumExpense,
  estimateRequestNeed,
  type NextRequest,
} from '../limits/estimate.ts';
import { findUnpricedCap } from '../turn/request-budget.ts';
import type { TaskRun } from '../task/task-run.ts';
import {
  chooseCompaction,
  findHeadCut,
  DEFAULT_COMPACT_AT,
  MAX_INPUTS_SHARE,
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

/** The assumed output limit of a model whose limit is unknown. */
const DEFAULT_OUTPUT_TOKENS = 8_192;
/** A first request below this size is sent before the model's details are loaded, since nothing could be removed. */
const SMALL_FIRST_REQUEST_TOKENS = 24_000;

/** Decides how the context is compacted before a task's next request, so that it stays within the model's window. */
export async function chooseCompactionStep(
  deps: EngineDeps,
  run: TaskRun,
): Promise<CompactionStep> {
  const { state, prefix, spec } = run;
  const { conversation } = state;
  const { compaction } = conversation;
  if (conversation.messages.length === 0 && isSmallFirstRequest(conversation, prefix)) {
    return { kind: 'none' };
  }
  const details = await deps.models.details(spec.model);
  const limits = getLimits(run, details);
  const trigger = compactionTrigger(limits);
  if (!compaction.hasOverflowed) {
    if (trigger === null || estimateRequestSize(conversation, prefix) <= trigger)
      return { kind: 'none' };
  }
  const layout = measureContext(conversation, prefix);
  const reference = trigger ?? layout.size;
  const whyNoSummary = findSummaryObstacle(run, details, layout, reference);
  const choice = chooseCompaction(layout, limits, compaction, whyNoSummary);
  return toStep(run, choice, { layout, limits, maxTokens: reference * MAX_INPUTS_SHARE });
}

function isSmallFirstRequest(request: NextRequest, prefix: RequestPrefix): boolean {
  return (
    maxFirstInput(request, prefix) < SMALL_FIRST_REQUEST_TOKENS ||
    estimateInput(request, prefix) < SMALL_FIRST_REQUEST_TOKENS
  );
}

function getLimits({ spec }: TaskRun, { contextWindow, maxOutput }: ModelDetails): WindowLimits {
  return {
    window: contextWindow,
    output: maxOutput ?? DEFAULT_OUTPUT_TOKENS,
    compactAt: spec.agent.compactAt ?? DEFAULT_COMPACT_AT,
  };
}

/** Returns why no summary can be requested: the remaining budget must suffice for the summary and for the next turn. */
function findSummaryObstacle(
  { budget, spec }: TaskRun,
  details: ModelDetails,
  layout: ContextLayout,
  reference: number,
): SummaryObstacle {
  if (!budget.isBounded) return null;
  const { size } = layout;
  const sizeAfter = size - (findHeadCut(layout, reference)?.freed ?? 0);
  const estimateMinimum = (input: number) => minimumExpense(estimateRequestNeed(input, details));
  const both = addExpenses(estimateMinimum(size), estimateMinimum(sizeAfter));
  const hit = findUnpricedCap(budget, spec.model, details) ?? budget.findExceededCap(both);
  return hit === null ? null : limitMessage(hit);
}

/** The measurements that the event of a step contains. */
interface StepContext {
  readonly layout: ContextLayout;
  readonly limits: WindowLimits;
  /** The maximum number of tokens of earlier inputs that are kept. */
  readonly maxTokens: number;
}

/** Turns a choice into the event that the log records. */
function toStep(run: TaskRun, choice: CompactionChoice, context: StepContext): CompactionStep {
  const { layout, limits, maxTokens } = context;
  const { state } = run;
  const toContextSize = (freed: number, waiting = layout.waiting): ContextSize => ({
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
      const size = toContextSize(countFreedTokens(results), Math.max(0, layout.waiting - cleared));
      const calls = describeClearedCalls(run, results);
      return { kind: 'record', event: { type: 'context.cleared', calls, size } };
    }
    case 'drop': {
      const { upTo, freed, because } = choice;
      const head = buildHeadTexts(state, upTo, { maxTokens, isSummarised: false });
      const size = toContextSize(freed);
      return { kind: 'record', event: { type: 'context.dropped', upTo, head, because, size } };
    }
    case 'summarise': {
      const { upTo, freed } = choice;
      return {
        kind: 'summarise',
        event: buildSummaryStarted(run, upTo, {
          size: toContextSize(freed),
          maxTokens,
          keep: null,
        }),
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
 * Plans a summary that the user requests. Returns null if there is too little to summarize.
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
  const maxTokens = before * MAX_INPUTS_SHARE;
  return {
    kind: 'summarise',
    event: buildSummaryStarted(run, cut.upTo, { size, maxTokens, keep }),
  };
}

function buildSummaryStarted(
  { state, spec }: TaskRun,
  upTo: number,
  {
    size,
    maxTokens,
    keep,
  }: { readonly size: ContextSize; readonly maxTokens: number; readonly keep: string | null },
) {
  return {
    type: 'summary.started',
    turn: state.turns + 1,
    upTo,
    head: buildHeadTexts(state, upTo, { maxTokens, isSummarised: true }),
    ask: buildSummaryPrompt(keep),
    model: modelName(spec.model),
    // The turns have the same choice, and with another one the provider's cache would not serve the conversation. After
    // a failure, calls are forbidden all the same, since the failed answer may have consisted of calls.
    toolChoice: state.conversation.compaction.failures === 0 ? 'auto' : 'none',
    size,
  } as const;
}

function describeClearedCalls({ state, spec, view }: TaskRun, results: readonly ResultLayout[]) {
  const { resultEvents } = state.conversation.compaction;
  return results.map((result) => {
    const seq = resultEvents.get(result.callId);
    const event =
      seq === undefined || !view.has('TaskOutput') ? null : formatEventReference(spec.id, seq);
    const text = formatClearedLine(result, { event, isNew: result.age === 0 });
    return { callId: result.callId, text };
  });
}
