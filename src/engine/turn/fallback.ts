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
import { checkMaxWait, estimateRateLimitWait } from './rate-limit-wait.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** A provider that asks for a longer wait than this is not waited for where another model could go on. */
const LONG_WAIT_MS = 60_000;

/** A model that goes on with a task, and how the one before it failed. */
export interface ModelFallback {
  readonly model: ResolvedModel;
  readonly failure: ModelFailure;
}

/**
 * Who goes on with a task whose newest request has failed for good; null: nobody does. Decided from the state alone: a crash between the failure and the change of models changes nothing.
 *
 * @param fallbacks what may stand in for the task's present model, in turn
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

/** The same for a task at work. What could go on is looked up only once something has failed. */
export function findFallback(
  deps: Pick<EngineDeps, 'models'>,
  run: Pick<TaskRun, 'spec' | 'state'>,
): ModelFallback | null {
  const { failure } = run.state.activation;
  return failure === null ? null : decideFallback(run.state, listFallbacks(deps, run));
}

/**
 * The first that has not failed in this stint. None for its last turn: there is an answer already. Behind
 * the same provider another model would wait as long.
 */
function chooseFallbackModel(
  { spec, activation, conversation, interrupted }: TaskState,
  fallbacks: readonly ResolvedModel[],
  failure: ModelFailure,
): ResolvedModel | null {
  if (activation.lastTurn || interrupted !== null || !canDependOnModel(failure)) return null;
  // What was asked then was its parent's model.
  if (isSummaryTransferDue(conversation)) return null;
  const failed = new Set([spec.model, ...activation.failedModels].map(modelName));
  const { provider } = spec.model;
  const isLongRateLimit = failure.kind === 'rate_limit' && asksForLongWait(failure);
  const mayGoOn = (model: ResolvedModel): boolean =>
    !failed.has(modelName(model)) && !(isLongRateLimit && model.provider === provider);
  return fallbacks.find(mayGoOn) ?? null;
}

/** Whether another model would go on, were this how the request fails for good. */
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

/** Whether another model could do better. What is wrong with the request, or with a key, would stay so. */
function canDependOnModel({ kind }: ModelFailure): boolean {
  switch (kind) {
    case 'connect':
    case 'overloaded':
    case 'server':
    case 'timeout':
    case 'malformed':
    case 'not_found':
    case 'rate_limit':
      return true;
    case 'auth':
    case 'bad_request':
    case 'context_overflow':
    case 'too_large':
    case 'cancelled':
      return false;
    default:
      kind satisfies never;
      return false;
  }
}

/**
 * Decides whether a failure is worth no more waiting where another model could go on: the provider asks for
 * more than a minute, or has limited the rate of the same request more often in a row than it is tried again.
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
 * Why a request that a rate limit holds back, found by others, is left: another model could go on meanwhile, or
 * it would wait for longer than anything may; null: it waits.
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

/** What is written down of it: nobody may be served by another model than they think. */
export function fallbackEvents(
  { rights, limits, model }: TaskSpec,
  { model: to, failure }: ModelFallback,
): readonly EventBody[] {
  const from = modelName(model);
  const because = removeModelName(failure.message, from);
  const { provider, id } = to;
  // Of the tier that was asked for: whatever else stands in for it is looked for there.
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

/** The message of a failure begins with whose it is. */
function removeModelName(message: string, name: string): string {
  return message.startsWith(`${name}: `) ? message.slice(name.length + 2) : message;
}
