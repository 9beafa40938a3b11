import { isSummaryTransferDue } from '../../protocol/state/compaction.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import {
  modelName,
  type ModelFailure,
  type ModelPart,
  type ResolvedModel,
} from '../../protocol/model.ts';
import type { TaskSpec } from '../../protocol/task.ts';
import type { EngineDeps } from '../task/deps.ts';
import { checkMaxWait, estimateRateLimitWait } from './retry.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** A longer wait than this that a provider asks for is not waited for if another model could continue. */
const LONG_WAIT_MS = 60_000;

/** A model that continues a task, and the failure of the one before it. */
export interface ModelFallback {
  readonly model: ResolvedModel;
  readonly failure: ModelFailure;
}

/**
 * Decides which model continues a task whose newest request has failed for good; null if none does. The decision
 * depends on the state alone, so a crash between the failure and the change of models changes nothing.
 *
 * @param fallbacks the models that may replace the task's present model, in order
 */
export function decideFallback(
  state: TaskState,
  fallbacks: readonly ResolvedModel[],
): ModelFallback | null {
  const { failure } = state.activation;
  if (failure === null) return null;
  const model = chooseFallbackModel(state, fallbacks, failure);
  return model === null ? null : { model, failure };
}

/** Decides the same for a running task. Looks up the fallback models only if a request has failed. */
export function findFallback(
  deps: Pick<EngineDeps, 'models'>,
  run: Pick<TaskRun, 'spec' | 'state'>,
): ModelFallback | null {
  const { failure } = run.state.activation;
  return failure === null ? null : decideFallback(run.state, listFallbacks(deps, run));
}

/**
 * Returns the first model that has not failed in this activation; null for a last turn, since there is an answer
 * already. After a long rate limit, models of the same provider are left out: they would wait as long.
 */
function chooseFallbackModel(
  { spec, activation, conversation, interrupted }: TaskState,
  fallbacks: readonly ResolvedModel[],
  failure: ModelFailure,
): ResolvedModel | null {
  if (activation.hasLastTurnBegun || interrupted !== null || !FAILURES_OF_MODELS.has(failure.kind))
    return null;
  // The failed request then went to the parent's model.
  if (isSummaryTransferDue(conversation)) return null;
  const failed = new Set([spec.model, ...activation.failedModels].map(modelName));
  const { provider } = spec.model;
  const isLongRateLimit = failure.kind === 'rate_limit' && asksForLongWait(failure);
  const mayGoOn = (model: ResolvedModel): boolean =>
    !failed.has(modelName(model)) && !(isLongRateLimit && model.provider === provider);
  return fallbacks.find(mayGoOn) ?? null;
}

/** Says whether another model would continue if the request failed for good with this failure. */
export function canFallBack(
  deps: Pick<EngineDeps, 'models'>,
  run: Pick<TaskRun, 'spec' | 'state'>,
  failure: ModelFailure,
): boolean {
  return chooseFallbackModel(run.state, listFallbacks(deps, run), failure) !== null;
}

function listFallbacks({ models }: Pick<EngineDeps, 'models'>, { spec }: Pick<TaskRun, 'spec'>) {
  return models.fallbacks?.(spec.model, spec.agent) ?? [];
}

/** The failures that another model may not have. A fault of the request or of a key would stay. */
const FAILURES_OF_MODELS: ReadonlySet<ModelFailure['kind']> = new Set([
  'connect',
  'overloaded',
  'server',
  'timeout',
  'malformed',
  'not_found',
  'rate_limit',
]);

/**
 * Decides whether a failure is not worth waiting for if another model could continue: the provider asks for more
 * than a minute, or has limited the rate of the same request more often in a row than it is tried again.
 *
 * @param inARow rate-limit answers to the same request, one after another, this one counted
 */
export function isLongRateLimit(
  failure: ModelFailure,
  { inARow, retries }: { readonly inARow: number; readonly retries: number },
): boolean {
  return asksForLongWait(failure) || (failure.kind === 'rate_limit' && inARow > retries);
}

function asksForLongWait({ retryAfterMs = 0 }: ModelFailure): boolean {
  return retryAfterMs > LONG_WAIT_MS;
}

/**
 * Returns the failure of a request that is held back by a rate limit which other requests met, if another model
 * could continue meanwhile or the wait is longer than the maximum. Returns null if the request is to wait.
 */
export function findHeldRequestFailure(
  deps: Pick<EngineDeps, 'models' | 'clock' | 'settings'>,
  run: Pick<TaskRun, 'spec' | 'state'>,
  { because, untilMs }: Extract<ModelPart, { type: 'held' }>,
): ModelFailure | null {
  if (untilMs === null) return null;
  const now = deps.clock.now();
  const failure: ModelFailure = {
    kind: 'rate_limit',
    message: `${modelName(run.spec.model)}: it would wait for ${because}`,
    retryable: true,
    retryAfterMs: Math.max(0, untilMs - now),
  };
  const wait = { totalMs: estimateRateLimitWait(failure, 1), maxMs: deps.settings.maxWaitMs, now };
  if (checkMaxWait(failure, wait) !== null) return failure;
  return asksForLongWait(failure) && canFallBack(deps, run, failure) ? failure : null;
}

/** Builds the events that record a fallback, so that the user knows which model answers. */
export function fallbackEvents(
  { rights, limits, model }: TaskSpec,
  { model: to, failure }: ModelFallback,
): readonly EventBody[] {
  const from = modelName(model);
  const because = removeModelName(failure.message, from);
  const { provider, id } = to;
  // The requested tier stays: further fallbacks are looked up by it.
  const tier = model.tier === undefined ? {} : { tier: model.tier };
  const chain = [`fallback for ${from}: ${because}`, ...to.chain];
  const message = `${from} failed and ${modelName(to)} goes on in its place: ${because}`;
  return [
    {
      type: 'terms.changed',
      rights,
      limits,
      model: { provider, id, ...tier, chain },
      fallback: { from, failure: failure.kind },
    },
    { type: 'warning', message },
  ];
}

/** Removes the model's name from the beginning of a failure message. */
function removeModelName(message: string, name: string): string {
  return message.startsWith(`${name}: `) ? message.slice(name.length + 2) : message;
}
