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
 * Sends the request once and reads the response to its end. Never rejects. While a rate limit delays the request, the
 * task holds neither a slot nor budget; it takes both again before the request is sent. A request with a long delay
 * fails if a fallback model could continue.
 */
export async function streamResponse(
  deps: EngineDeps,
  run: TaskRun,
  startedTurn: StartedTurn,
  requestBudget: RequestBudget,
): Promise<ModelAnswer> {
  const lead = await waitForPromptCache(deps, run, startedTurn.request);
  try {
    return await streamOnce(deps, run, { ...startedTurn, requestBudget, lead });
  } finally {
    lead?.markEnded();
  }
}

interface StreamContext extends StartedTurn {
  readonly requestBudget: RequestBudget;
  /** Set if other requests wait for this one, which fills the prompt cache. */
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
  const emit = (part: ProgressPart): void => {
    streamed.add(part);
    if (!isSummary) deps.onSignal(toSignal(part, task));
  };
  const listener: AnswerListener = {
    ...createSilenceRecorder(deps, run, turn),
    onSent: () => {
      if (!isSummary) deps.onSignal({ type: 'request_sent', task });
    },
    onProgress: emit,
  };
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
        // Load the model details while the answer streams, because they are needed when it has ended.
        void deps.models.details(request.model);
        break;
      }
      case 'text_delta':
      case 'reasoning_delta':
      case 'tool_call_started':
        emit(part);
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
    message: `${modelName(request.model)}: the stream of the answer ended without its last part`,
    retryable: true,
  } as const;
  return addPartialText(addEstimate({ type: 'failed', failure }, streamed, request), streamed);
}

function toSignal(part: ProgressPart, task: string): TaskSignal {
  if (part.type !== 'tool_call_started') return { ...part, task };
  const { type, name } = part;
  return { type, task, name };
}

/**
 * Creates a listener that records silences of the server. If the log can't be written, the task ends when its next
 * event is recorded.
 */
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

/** Adds an estimate of the part of the usage that the server did not report. */
export function addEstimate(
  part: FinalPart,
  streamed: StreamedResponse,
  request: ModelRequest,
): ModelAnswer {
  const missing = findMissingUsage(part);
  if (missing === null) return part;
  const guess = streamed.estimate(request, part);
  if (guess === null) return part;
  if (missing === 'all') return { ...part, estimated: guess };
  const { input, output } = guess;
  const estimated = { ...NO_USAGE, ...(missing === 'input' ? { input } : { output }) };
  return { ...part, estimated };
}

function findMissingUsage(part: FinalPart): UsageMissing | null {
  if (part.type === 'finished') return part.usageMissing ?? null;
  return part.usage === undefined ? 'all' : null;
}

function addPartialText(answer: ModelAnswer, { text }: StreamedResponse): ModelAnswer {
  return answer.type === 'finished' || text.trim() === ''
    ? answer
    : { ...answer, partialText: text };
}

/**
 * Takes the budget and the slot again for a delayed request. Returns the failure, or null if the request can be sent.
 */
async function reserveBeforeSending(
  run: TaskRun,
  { model }: ModelRequest,
  requestBudget: RequestBudget,
): Promise<ModelAnswer | null> {
  try {
    const shortfall = await requestBudget.reserve();
    if (shortfall !== null)
      return { ...buildUnsentFailure(limitMessage(shortfall.hit)), shortfall };
    await run.slot.take();
    return null;
  } catch {
    // Both waits reject only when the task is stopped. The caller checks the signal.
    return buildUnsentFailure(`${modelName(model)}: stopped before the request was sent`);
  }
}

function buildUnsentFailure(message: string) {
  return { type: 'failed', failure: { kind: 'cancelled', message, retryable: false } } as const;
}

/**
 * The minimum length of a cached prefix in tokens, for models whose minimum is unknown. No provider caches shorter
 * prefixes.
 */
const DEFAULT_CACHE_MINIMUM_TOKENS = 1_024;

/**
 * Delays a child's request while the first request with the same prefix is on its way, if reading the provider's
 * cache costs less than sending the prefix again. Returns the lead if this request is the first one, otherwise null.
 */
async function waitForPromptCache(
  { models, settings }: Pick<EngineDeps, 'models' | 'settings'>,
  run: TaskRun,
  { model, prefix }: ModelRequest,
): Promise<LeadingRequest | null> {
  if (run.parent === null || settings.cacheHoldMs === 0) return null;
  // The prefix of a forked conversation, or of one to be summarized, was sent a moment ago and is cached already.
  if (run.spec.inherited !== undefined || prefix !== run.prefix) return null;
  const details = await models.details(model);
  if (!isCacheCheaper(details)) return null;
  if (estimatePrompt(prefix, []) < (details.cacheMinimum ?? DEFAULT_CACHE_MINIMUM_TOKENS))
    return null;
  return run.tree.promptCache.enter(
    `${modelName(model)} ${run.spec.prefix}`,
    run.cancellation.turnSignal,
  );
}

function isCacheCheaper({ price }: ModelDetails): boolean {
  return price !== null && price.cacheRead < price.input;
}
