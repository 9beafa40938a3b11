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
import { type ModelAnswer, type FinalPart, type StartedTurn, digestAddedParts } from './request.ts';
import type { EngineDeps } from '../task/deps.ts';
import { limitMessage } from '../limits/limit-message.ts';
import { findHeldRequestFailure } from './fallback.ts';
import type { RequestBudget } from './request-budget.ts';
import { StreamedResponse } from './streamed-response.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { LeadingRequest } from '../limits/prompt-cache-warm-up.ts';
import { estimatePrompt } from '../limits/estimate.ts';

/**
 * Sends the request once and reads the response to its end. Never rejects. While a rate limit holds the request
 * back, the task holds neither a slot nor budget, and takes both again before the request is sent. A request that
 * is held for long fails if a fallback model could continue.
 */
export async function streamResponse(
  deps: EngineDeps,
  run: TaskRun,
  begun: StartedTurn,
  requestBudget: RequestBudget,
): Promise<ModelAnswer> {
  const lead = await waitForPromptCache(deps, run, begun.request);
  try {
    return await streamOnce(deps, run, { ...begun, requestBudget, lead });
  } finally {
    lead?.markEnded();
  }
}

interface StreamContext extends StartedTurn {
  readonly requestBudget: RequestBudget;
  readonly lead: LeadingRequest | null;
}

async function streamOnce(
  deps: EngineDeps,
  run: TaskRun,
  { turn, request, isSummary, requestBudget, lead }: StreamContext,
): Promise<ModelAnswer> {
  const task = run.spec.id;
  const streamed = new StreamedResponse();
  let isHoldRecorded = false;
  const show = (part: ProgressPart): void => {
    streamed.add(part);
    if (!isSummary) deps.onSignal(toSignal(part, task));
  };
  const listener = { ...createSilenceRecorder(deps, run, turn), onProgress: show };
  for await (const part of deps.model.stream(request, run.cancellation.turnSignal, listener)) {
    switch (part.type) {
      case 'held': {
        const failure = findHeldRequestFailure(deps, run, part);
        if (failure !== null) return { type: 'failed', failure };
        if (!isHoldRecorded) {
          const { because, untilMs } = part;
          run.journal.record({ type: 'turn.held', turn, because, untilMs });
        }
        isHoldRecorded = true;
        requestBudget.release();
        run.slot.release();
        break;
      }
      case 'admitted': {
        const prevented = await reserveBeforeSending(run, request, requestBudget);
        if (prevented !== null) return prevented;
        break;
      }
      case 'accepted': {
        const added = digestAddedParts(request.messages);
        streamed.markAccepted();
        lead?.markAccepted();
        run.journal.record({ type: 'turn.accepted', turn, added });
        // Loads the model details while the answer streams; they are needed when it has ended.
        void deps.models.details(request.model);
        break;
      }
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

/** Records silences of the server. A log that cannot be written ends the task elsewhere. */
function createSilenceRecorder(
  deps: EngineDeps,
  run: TaskRun,
  turn: number,
): Pick<AnswerListener, 'onSilence' | 'onResumed'> {
  const record = (body: EventBody): void => {
    try {
      run.journal.record(body);
    } catch (thrown) {
      deps.onFault(run.spec.id, thrown);
    }
  };
  return {
    onSilence: (silence) => record({ type: 'turn.quiet', turn, ...silence }),
    onResumed: () => record({ type: 'turn.flowing', turn }),
  };
}

/** Adds an estimate of the usage that the server did not report. */
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

/**
 * Takes the budget and the slot again for a request that was held back. Returns the failure, or null if it may be
 * sent.
 */
async function reserveBeforeSending(
  run: TaskRun,
  { model }: ModelRequest,
  requestBudget: RequestBudget,
): Promise<ModelAnswer | null> {
  try {
    const shortfall = await requestBudget.reserve();
    if (shortfall !== null) return { ...unsentFailure(limitMessage(shortfall.hit)), shortfall };
    await run.slot.take();
    return null;
  } catch {
    // Both reject only when the task is stopped, which the caller sees by the signal.
    return unsentFailure(`${modelName(model)}: stopped before the request was sent`);
  }
}

function unsentFailure(message: string) {
  return { type: 'failed', failure: { kind: 'cancelled', message, retryable: false } } as const;
}

/** The shortest prefix in tokens that is cached, for models of which it is unknown: no provider caches less. */
const DEFAULT_CACHE_MINIMUM = 1_024;

/**
 * Holds a child's request while the first request with the same prefix is on its way, if reading the provider's
 * cache costs less than sending the prefix again. Returns a lead if this request is the first one.
 */
async function waitForPromptCache(
  { models, settings }: Pick<EngineDeps, 'models' | 'settings'>,
  run: TaskRun,
  { model, prefix }: ModelRequest,
): Promise<LeadingRequest | null> {
  if (run.parent === null || settings.cacheHoldMs === 0) return null;
  // A forked conversation, or one to summarize, was sent a moment ago and is cached already.
  if (run.spec.inherited !== undefined || prefix !== run.prefix) return null;
  const details = await models.details(model);
  if (!isCheaperCached(details)) return null;
  if (estimatePrompt(prefix, []) < (details.cacheMinimum ?? DEFAULT_CACHE_MINIMUM)) return null;
  return run.tree.promptCache.enter(
    `${modelName(model)} ${run.spec.prefix}`,
    run.cancellation.turnSignal,
  );
}

function isCheaperCached({ price }: ModelDetails): boolean {
  return price !== null && price.cacheRead < price.input;
}
