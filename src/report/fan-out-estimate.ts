import type { TaskStatus } from '../protocol/result.ts';

/** A task in the logs, with its cost. */
export interface PricedTask {
  readonly agent: string;
  /** The model as `provider/id`. */
  readonly model: string;
  readonly status: TaskStatus;
  readonly turns: number;
  /** The cost in USD; null if it is not known. */
  readonly costUsd: number | null;
  /** Present if the result was taken from another task. */
  readonly reused?: string;
}

/** The tasks that a message is about to start. */
export interface PlannedFanOut {
  /** The name of their agent. */
  readonly agent: string;
  readonly count: number;
  /** Their model, as `provider/id`; null if it is the one that the newest task of the agent had. */
  readonly model: string | null;
}

/** The probable cost of a fan-out: the quartiles of the costs of earlier tasks, for all tasks of the fan-out. */
export interface FanOutEstimate {
  readonly lowUsd: number;
  readonly highUsd: number;
  readonly model: string;
  /** The number of earlier tasks on which the estimate is based. */
  readonly basis: number;
}

/** The minimum number of earlier tasks for an estimate, and the maximum number that is used. */
const MIN_BASIS = 5;
const MAX_BASIS = 50;

/**
 * Estimates the cost of a fan-out from the last tasks of the same agent and model. Returns null if there are too few of
 * them.
 *
 * @param tasks the tasks in the logs, the newest first
 */
export function estimateFanOut(
  tasks: readonly PricedTask[],
  { agent, count, model: wanted }: PlannedFanOut,
): FanOutEstimate | null {
  const own = tasks.filter((task) => task.agent === agent && isTypical(task));
  const model = wanted ?? own[0]?.model;
  if (model === undefined) return null;
  const costs = own
    .filter((task) => task.model === model)
    .slice(0, MAX_BASIS)
    .flatMap(({ costUsd }) => costUsd ?? [])
    .toSorted((a, b) => a - b);
  if (costs.length < MIN_BASIS) return null;
  const lowUsd = quantile(costs, 0.25) * count;
  const highUsd = quantile(costs, 0.75) * count;
  return { lowUsd, highUsd, model, basis: costs.length };
}

/** Returns true for a task that ended by itself with a known cost, and whose result was not taken from another task. */
function isTypical({ status, costUsd, turns, reused }: PricedTask): boolean {
  const hasEnded = status === 'completed' || status === 'partial';
  return hasEnded && costUsd !== null && turns > 0 && reused === undefined;
}

/** Returns a quantile of sorted numbers, interpolated between the two nearest ones. */
function quantile(sorted: readonly number[], share: number): number {
  const at = (sorted.length - 1) * share;
  const below = sorted[Math.floor(at)] ?? 0;
  const above = sorted[Math.ceil(at)] ?? below;
  return below + (above - below) * (at - Math.floor(at));
}

/** Formats an estimate: `64 × Explore, about $0.40–1.10 (your last 23 with anthropic/claude-haiku-4-5)`. */
export function formatEstimate(
  { agent, count }: Pick<PlannedFanOut, 'agent' | 'count'>,
  { lowUsd, highUsd, model, basis }: FanOutEstimate,
): string {
  const [low, high] = [formatAmount(lowUsd), formatAmount(highUsd)];
  const range = low === high ? `$${high}` : `$${low}–${high}`;
  const cost = highUsd < 0.005 ? 'less than $0.01' : `about ${range}`;
  return `${count} × ${agent}, ${cost} (your last ${basis} with ${model})`;
}

function formatAmount(usd: number): string {
  return usd >= 10 ? String(Math.round(usd)) : usd.toFixed(2);
}
