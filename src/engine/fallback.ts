import type { EventBody } from '../protocol/event.ts';
import { modelName, type ModelFailure, type ResolvedModel } from '../protocol/model.ts';
import type { TaskState } from '../protocol/state.ts';
import type { EngineDeps } from './deps.ts';
import type { TaskRun } from './task-run.ts';

/** A rate limit that asks for a longer wait than this lasts. */
const LASTING_MS = 60_000;

/**
 * The model that goes on with a task whose newest request has failed for good; null: none does. Decided
 * from the state alone: a crash between the failure and the change of models changes nothing.
 *
 * @param fallbacks what may stand in for the task's present model, in turn
 */
export function decideFallback(
  state: TaskState,
  fallbacks: readonly ResolvedModel[],
): ResolvedModel | null {
  const { failure } = state.stint;
  return failure !== null && mayBeTheModels(failure) ? nextFallback(state, fallbacks) : null;
}

/** The first that has not failed in this stint. None for its last turn: there is an answer already. */
export function nextFallback(
  { spec, stint }: TaskState,
  fallbacks: readonly ResolvedModel[],
): ResolvedModel | null {
  if (stint.lastTurn) return null;
  const failed = new Set([spec.model, ...stint.failedModels].map(modelName));
  return fallbacks.find((model) => !failed.has(modelName(model))) ?? null;
}

export function fallbacksOf(
  { models }: Pick<EngineDeps, 'models'>,
  { spec }: Pick<TaskRun, 'spec'>,
) {
  return models.fallbacks?.(spec.model, spec.agent) ?? [];
}

/** Whether another model could do better. What is wrong with the request, or with a key, would stay so. */
function mayBeTheModels({ kind }: ModelFailure): boolean {
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
    case 'cancelled':
      return false;
    default:
      return kind satisfies never;
  }
}

/**
 * Whether a rate limit is worth no more waiting where another model could go on: the provider asks for
 * more than a minute, or has said so `retries` times in a row before.
 *
 * @param before rate-limit answers to the same request, one after another, before this one
 */
export function isLasting(
  { kind, retryAfterMs = 0 }: ModelFailure,
  { before, retries }: { readonly before: number; readonly retries: number },
): boolean {
  return kind === 'rate_limit' && (retryAfterMs > LASTING_MS || before >= retries);
}

/** What is written down of it: nobody may be served by another model than they think. */
export function fallbackEvents(
  { spec, stint }: TaskState,
  to: ResolvedModel,
): readonly EventBody[] {
  const { rights, limits, model } = spec;
  const from = modelName(model);
  const because = withoutName(stint.failure?.message ?? 'it failed', from);
  const chain = [`fallback for ${from}: ${because}`, ...to.chain];
  // Of the tier that was asked for: whatever else stands in for it is looked for there.
  const tier = model.tier === undefined ? {} : { tier: model.tier };
  const { provider, id } = to;
  return [
    {
      type: 'terms.changed',
      rights,
      limits,
      model: { provider, id, ...tier, chain },
      fallback: { from, failure: stint.failure?.kind ?? 'server' },
    },
    {
      type: 'warning',
      message: `${from} failed and ${modelName(to)} goes on in its place: ${because}`,
    },
  ];
}

/** The message of a failure begins with whose it is. */
function withoutName(message: string, name: string): string {
  return message.startsWith(`${name}: `) ? message.slice(name.length + 2) : message;
}
