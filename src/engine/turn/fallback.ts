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

/** The maximum wait for a provider if another model could continue instead. */
const MAX_WAIT_BEFORE_FALLBACK_MS = 60_000;

/** The model that continues a task, and the failure of the model before it. */
export interface ModelFallback {
  readonly model: ResolvedModel;
  readonly failure: ModelFailure;
}

/**
 * Decides which model continues a task whose newest request has failed for good; null if no model does. The decision
 * depends only on the state, so a crash between the failure and the change of models changes nothing.
 *
 * @param fallbacks the models that may replace the task's current model, in order
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

/**
 * Finds the fallback of a running task, as in `decideFallback`. The fallback models are looked up only if a request
 * has failed.
 */
export function findFallback(
  deps: Pick<EngineDeps, 'models'>,
  run: Pick<TaskRun, 'spec' | 'state'>,
): ModelFallback | null {
  const { failure } = run.state.activation;
  return failure === null ? null : decideFallback(run.state, listFallbacks(deps, run));
}

/**
 * Returns the first fallback model that has not failed in this activation; null in a last turn, because there is an
 * answer already. After a long rate limit, models of the same provider are left out, because they would wait as long.
 */
function chooseFallbackModel(
  { spec, activation, conversation, interrupted }: TaskState,
  fallbacks: readonly ResolvedModel[],
  failure: ModelFailure,
): ResolvedModel | null {
  if (activation.hasLastTurnBegun || interrupted !== null || !MODEL_FAILURES.has(failure.kind))
    return null;
  // The failed request was for a summary and went to the parent's model.
  if (isSummaryTransferDue(conversation)) return null;
  const failed = new Set([spec.model, ...activation.failedModels].map(modelName));
  const { provider } = spec.model;
  const isLongRateLimit = failure.kind === 'rate_limit' && asksForLongWait(failure);
  const canContinue = (model: ResolvedModel): boolean =>
    !failed.has(modelName(model)) && !(isLongRateLimit && model.provider === provider);
  return fallbacks.find(canContinue) ?? null;
}

/** Returns true if another model would continue after this failure. */
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

/**
 * The kinds of failures that may not occur with another model. An error in the request or in an API key would occur
 * again.
 */
const MODEL_FAILURES: ReadonlySet<ModelFailure['kind']> = new Set([
  'connect',
  'overloaded',
  'server',
  'timeout',
  'malformed',
  'not_found',
  'rate_limit',
]);

/**
 * Returns true if the wait after a failure is too long when another model could continue: the provider requires more
 * than a minute, or has answered the same request with more rate limits in a row than the limit on retries.
 *
 * @param options `inARow`: the number of consecutive rate-limit answers to the same request, including this one
 */
export function isLongRateLimit(
  failure: ModelFailure,
  options: { readonly inARow: number; readonly retries: number },
): boolean {
  return (
    asksForLongWait(failure) || (failure.kind === 'rate_limit' && options.inARow > options.retries)
  );
}

function asksForLongWait({ retryAfterMs = 0 }: ModelFailure): boolean {
  return retryAfterMs > MAX_WAIT_BEFORE_FALLBACK_MS;
}

/**
 * Returns the failure of a request that would have to wait for a rate limit which other requests have met, if another
 * model could continue in the meantime or the wait exceeds the maximum. Returns null if the request must wait.
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
  // Keep the requested tier, because further fallbacks are looked up by it.
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
