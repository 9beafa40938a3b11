import type { EventBody } from '../../protocol/events/event.ts';
import {
  modelName,
  NO_USAGE,
  type AnswerListener,
  type ModelRequest,
  type ProgressPart,
  type UsageMissing,
  type ModelDetails,
} from '../../protocol/model.ts';
import type { TaskSignal } from '../../protocol/signal.ts';
import type { ModelAnswer, FinalPart } from './turn-outcome.ts';
import { type StartedTurn, digestAddedParts } from './request.ts';
import type { EngineDeps } from '../task/deps.ts';
import { findHeldRequestFailure } from './fallback.ts';
import { limitMessage } from '../limits/limits.ts';
import type { RequestBudget } from './request-budget.ts';
import { StreamedResponse } from './streamed-response.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { LeadingRequest } from '../limits/prompt-cache-warm-up.ts';
import { estimatePrompt } from '../limits/estimate.ts';

/**
 * Sends the request once, and reads what comes to its end. Never rejects. While a rate limit holds it
 * back the task has no slot and holds nothing of the budget, and takes both again before the request
 * goes out; held back for long, it fails where a fallback model would go on.
 */
export async function streamResponse(
  deps: EngineDeps,
  run: TaskRun,
  begun: StartedTurn,
  spending: RequestBudget,
): Promise<ModelAnswer> {
  const lead = await waitForPromptCache(deps, run, begun.request);
  try {
    return await streamOnce(deps, run, { ...begun, requestBudget: spending, lead });
  } finally {
    lead?.over();
  }
}

interface StreamContext extends StartedTurn {
  readonly requestBudget: RequestBudget;
  readonly lead: LeadingRequest | null;
}

async function streamOnce(
  deps: EngineDeps,
  run: TaskRun,
  { turn, request, isSummary, requestBudget: spending, lead }: StreamContext,
): Promise<ModelAnswer> {
  const task = run.spec.id;
  const streamed = new StreamedResponse();
  let isHoldTold = false;
  const show = (part: ProgressPart): void => {
    streamed.add(part);
    if (!isSummary) deps.onSignal(toSignal(part, task));
  };
  const listener = { ...createSilenceRecorder(deps, run, turn), progressed: show };
  for await (const part of deps.model.stream(request, run.cancellation.turnSignal, listener)) {
    switch (part.type) {
      case 'held': {
        const failure = findHeldRequestFailure(deps, run, part);
        if (failure !== null) return { type: 'failed', failure };
        if (!isHoldTold) {
          const { because, untilMs } = part;
          run.journal.record({ type: 'turn.held', turn, because, untilMs });
        }
        isHoldTold = true;
        spending.release();
        run.slot.give();
        break;
      }
      case 'admitted': {
        const prevented = await reserveBeforeSending(run, request, spending);
        if (prevented !== null) return prevented;
        break;
      }
      case 'accepted':
        streamed.markAccepted();
        lead?.accepted();
        run.journal.record({
          type: 'turn.accepted',
          turn,
          added: digestAddedParts(request.messages),
        });
        // Loaded while the answer streams in; asked for again when it has ended.
        void deps.models.facts(request.model);
        break;
      case 'text_delta':
      case 'reasoning_delta':
      case 'tool_call_started':
        show(part);
        break;
      case 'ping':
        break;
      case 'finished':
      case 'failed':
        return addPartialText(addEstimate(part, streamed, request), streamed);
      default:
        part satisfies never;
    }
  }
  const failure = {
    kind: 'malformed',
    message: `${modelName(request.model)}: the answer ended without an end`,
    retryable: true,
  } as const;
  return addPartialText(addEstimate({ type: 'failed', failure }, streamed, request), streamed);
}

function toSignal(part: ProgressPart, task: string): TaskSignal {
  if (part.type !== 'tool_call_started') return { ...part, task };
  const { type, name } = part;
  return { type, task, name };
}

/** Shows a silence to whoever looks at the task. A log that can't be written ends the task elsewhere. */
function createSilenceRecorder(
  deps: EngineDeps,
  run: TaskRun,
  turn: number,
): Pick<AnswerListener, 'quiet' | 'flowing'> {
  const record = (body: EventBody): void => {
    try {
      run.journal.record(body);
    } catch (thrown) {
      deps.onFault(run.spec.id, thrown);
    }
  };
  return {
    quiet: (silence) => record({ type: 'turn.quiet', turn, ...silence }),
    flowing: () => record({ type: 'turn.flowing', turn }),
  };
}

/** The answer with an estimate of what its server did not report; it counts beside what it did. */
function addEstimate(
  part: FinalPart,
  streamed: StreamedResponse,
  request: ModelRequest,
): ModelAnswer {
  const missing = missingUsage(part);
  if (missing === null) return part;
  const guess = streamed.estimate(request, part);
  if (guess === null) return part;
  if (missing === 'all') return { ...part, estimated: guess };
  const { input, output } = guess;
  const estimated = { ...NO_USAGE, ...(missing === 'input' ? { input } : { output }) };
  return { ...part, estimated };
}

function missingUsage(part: FinalPart): UsageMissing | null {
  if (part.type === 'finished') return part.usageMissing ?? null;
  return part.usage === undefined ? 'all' : null;
}

function addPartialText(answer: ModelAnswer, { text }: StreamedResponse): ModelAnswer {
  return answer.type === 'finished' || text.trim() === ''
    ? answer
    : { ...answer, partialText: text };
}

/** Before a request that was held back goes out; null: it may. */
async function reserveBeforeSending(
  run: TaskRun,
  { model }: ModelRequest,
  spending: RequestBudget,
): Promise<ModelAnswer | null> {
  try {
    const noRoom = await spending.reserve();
    if (noRoom !== null) return { ...unsentFailure(limitMessage(noRoom.hit)), shortfall: noRoom };
    await run.slot.take();
    return null;
  } catch {
    // Both reject only when the task is stopped, which the caller tells by the signal.
    return unsentFailure(`${modelName(model)}: stopped before the request was sent`);
  }
}

function unsentFailure(message: string) {
  return { type: 'failed', failure: { kind: 'cancelled', message, retryable: false } } as const;
}

/** Tokens, where nobody knows of a model: no provider caches a shorter prefix. */
const DEFAULT_CACHE_MINIMUM = 1_024;

/**
 * Holds a child's request while the first one with its prefix is on its way, where reading the cache is
 * known to cost less than sending the prefix again. The request leads where one is returned.
 */
async function waitForPromptCache(
  { models, settings }: Pick<EngineDeps, 'models' | 'settings'>,
  run: TaskRun,
  { model, prefix }: ModelRequest,
): Promise<LeadingRequest | null> {
  if (run.parent === null || settings.cacheHoldMs === 0) return null;
  // The conversation that it inherits, or asks a summary of, was sent a moment ago.
  if (run.spec.inherited !== undefined || prefix !== run.prefix) return null;
  const facts = await models.facts(model);
  if (!isCheaperCached(facts)) return null;
  if (estimatePrompt(prefix, []) < (facts.cacheMinimum ?? DEFAULT_CACHE_MINIMUM)) return null;
  return run.tree.warmPrefixes.enter(
    `${modelName(model)} ${run.spec.prefix}`,
    run.cancellation.turnSignal,
  );
}

function isCheaperCached({ price }: ModelDetails): boolean {
  return price !== null && price.cacheRead < price.input;
}
