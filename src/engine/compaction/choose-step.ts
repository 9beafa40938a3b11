import type { ContextSize } from '../../protocol/events/compaction-event.ts';
import { modelName, type ModelDetails } from '../../protocol/model.ts';
import { addExpenses } from '../limits/budget.ts';
import type { EngineDeps, CompactionStep } from '../task/deps.ts';
import { estimateInput, minimumExpense, estimateRequestNeed } from '../limits/estimate.ts';
import { limitMessage } from '../limits/limit-message.ts';
import { unpricedCap } from '../turn/spending.ts';
import type { TaskRun } from '../task/task-run.ts';
import {
  compactionChoice,
  cutOf,
  DEFAULT_COMPACT_AT,
  MOST_SAID,
  freedBy,
  triggerOf,
  type CompactionChoice,
  type WhyNoSummary,
  type WindowLimits,
} from './decide.ts';
import { layoutOf, requestSize, type LaidResult, type Layout } from './layout.ts';
import { clearedLine, headTexts, ownEvent, summaryAsk } from './texts.ts';

/** Tokens asked for where a model's output limit is not known. */
const USUAL_OUTPUT = 8_192;
/** Tokens of a first request that need not wait for the catalogue: there is nothing to take out of it. */
const UNWATCHED = 24_000;

/** What a task's next request needs to stay within its model's window, as its log will tell it. */
export async function chooseStep(deps: EngineDeps, run: TaskRun): Promise<CompactionStep> {
  const { state, prefix, spec } = run;
  const { conversation } = state;
  const { compaction } = conversation;
  if (conversation.messages.length === 0) {
    if (estimateInput(conversation, prefix) < UNWATCHED) return { kind: 'none' };
  }
  const facts = await deps.models.details(spec.model);
  const limits = limitsOf(run, facts);
  const trigger = triggerOf(limits);
  if (!compaction.overflowed) {
    if (trigger === null || requestSize(conversation, prefix) <= trigger) return { kind: 'none' };
  }
  const layout = layoutOf(conversation, prefix);
  const from = trigger ?? layout.size;
  const because = whyNoSummary(run, facts, layout, from);
  const choice = compactionChoice(layout, limits, compaction, because);
  return stepOf(run, choice, { layout, limits, most: from * MOST_SAID });
}

function limitsOf({ spec }: TaskRun, { contextWindow, maxOutput }: ModelDetails): WindowLimits {
  return {
    window: contextWindow,
    output: maxOutput ?? USUAL_OUTPUT,
    compactAt: spec.agent.compactAt ?? DEFAULT_COMPACT_AT,
  };
}

/** What is left of the budget must do for a summary and for the turn that room is made for. */
function whyNoSummary(
  { budget, spec }: TaskRun,
  facts: ModelDetails,
  layout: Layout,
  from: number,
): WhyNoSummary {
  if (!budget.isBounded) return null;
  const { size } = layout;
  const after = size - (cutOf(layout, from)?.freed ?? 0);
  const least = (input: number) => minimumExpense(estimateRequestNeed(input, facts));
  const both = addExpenses(least(size), least(after));
  const hit = unpricedCap(budget, spec.model, facts) ?? budget.findExceededCap(both);
  return hit === null ? null : limitMessage(hit);
}

interface Measured {
  readonly layout: Layout;
  readonly limits: WindowLimits;
  /** Tokens of what was said that may stay. */
  readonly most: number;
}

function stepOf(run: TaskRun, choice: CompactionChoice, measured: Measured): CompactionStep {
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
    case 'clear':
      return { kind: 'record', event: clearing(run, choice.results, { layout, sized }) };
    case 'drop': {
      const { upTo, freed, because } = choice;
      const head = headTexts(state, upTo, { most, isSummarised: false });
      const size = sized(freed);
      return { kind: 'record', event: { type: 'context.dropped', upTo, head, because, size } };
    }
    case 'summarise': {
      const { upTo, freed } = choice;
      return {
        kind: 'summarise',
        event: summaryBegin(run, upTo, { size: sized(freed), most, keep: null }),
      };
    }
    case 'stuck': {
      const { window } = limits;
      if (window === null || state.conversation.compaction.overflowed) {
        return { kind: 'stuck', hit: null };
      }
      return { kind: 'stuck', hit: { limit: 'context_window', value: window, used: layout.size } };
    }
    default:
      return choice satisfies never;
  }
}

/** What is summarised on a person's wish; null: nothing is worth it. */
export async function summaryStep(
  deps: EngineDeps,
  run: TaskRun,
  keep: string | null,
): Promise<Extract<CompactionStep, { kind: 'summarise' }> | null> {
  const { contextWindow: window } = await deps.models.details(run.spec.model);
  const layout = layoutOf(run.state.conversation, run.prefix);
  const cut = cutOf(layout, layout.size);
  if (cut === null) return null;
  const { size: before, waiting } = layout;
  const size = { before, after: Math.max(0, before - cut.freed), waiting, window };
  const most = before * MOST_SAID;
  return { kind: 'summarise', event: summaryBegin(run, cut.upTo, { size, most, keep }) };
}

function summaryBegin(
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
    head: headTexts(state, upTo, { most, isSummarised: true }),
    ask: summaryAsk(keep),
    model: modelName(spec.model),
    // As its turns are asked: another choice would keep a provider's cache from serving the history.
    toolChoice: state.conversation.compaction.failures === 0 ? 'auto' : 'none',
    size,
  } as const;
}

function clearing(
  { state, spec, view }: TaskRun,
  results: readonly LaidResult[],
  {
    layout,
    sized,
  }: {
    readonly layout: Layout;
    readonly sized: (freed: number, waiting: number) => ContextSize;
  },
) {
  const { resultEvents } = state.conversation.compaction;
  const calls = results.map((result) => {
    const seq = resultEvents.get(result.callId);
    const event = seq === undefined || !view.has('TaskOutput') ? null : ownEvent(spec.id, seq);
    return {
      callId: result.callId,
      text: clearedLine(result, { event, isNew: result.age === 0 }),
    };
  });
  const freed = freedBy(results);
  const waiting = layout.waiting - freedBy(results.filter(({ isWaiting }) => isWaiting));
  return { type: 'context.cleared', calls, size: sized(freed, Math.max(0, waiting)) } as const;
}
