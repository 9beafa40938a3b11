import type { UsageReply } from '../../wire.ts';

/** The sums of a usage up to a time. */
export interface UsageStep {
  readonly at: number;
  /** Input that was not read from a cache. */
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly costUsd: number;
}

/** The usage of one model. */
export interface ModelUsage extends Omit<UsageStep, 'at'> {
  readonly model: string;
  readonly turns: number;
  /** True if the price of a turn is not known. */
  readonly isUnpriced: boolean;
}

/** Adds up the points of a usage over time, in the order of time. */
export function sumOverTime(points: UsageReply['points']): readonly UsageStep[] {
  let [input, output, cached, costUsd] = [0, 0, 0, 0];
  return points
    .toSorted((a, b) => a.at - b.at)
    .map((point) => {
      input += point.input + point.cacheWrite;
      output += point.output;
      cached += point.cacheRead;
      costUsd += point.costUsd ?? 0;
      return { at: point.at, input, output, cached, costUsd };
    });
}

/** Adds up the points of each model, the most expensive first. */
export function sumByModel(points: UsageReply['points']): readonly ModelUsage[] {
  const sums = new Map<string, ModelUsage>();
  for (const { model, input, output, cacheRead, cacheWrite, costUsd } of points) {
    const sum = sums.get(model);
    sums.set(model, {
      model,
      turns: (sum?.turns ?? 0) + 1,
      input: (sum?.input ?? 0) + input + cacheWrite,
      output: (sum?.output ?? 0) + output,
      cached: (sum?.cached ?? 0) + cacheRead,
      costUsd: (sum?.costUsd ?? 0) + (costUsd ?? 0),
      isUnpriced: (sum?.isUnpriced ?? false) || costUsd === null,
    });
  }
  return [...sums.values()].toSorted((a, b) => b.costUsd - a.costUsd || b.turns - a.turns);
}

/** The place of a chart in its drawing. */
export interface ChartBox {
  readonly width: number;
  readonly height: number;
}

/**
 * Draws a sum over time as steps, in a box whose top is `max`. Steps within the same unit of the width are drawn as one,
 * so that the path stays short.
 */
export function drawSteps(
  steps: readonly UsageStep[],
  value: (step: UsageStep) => number,
  scale: { readonly from: number; readonly to: number; readonly max: number },
  box: ChartBox,
): string {
  const { from, to, max } = scale;
  const x = (at: number): number =>
    Math.round(Math.min(Math.max((at - from) / Math.max(to - from, 1), 0), 1) * box.width);
  const y = (amount: number): number =>
    Math.round((1 - amount / Math.max(max, Number.MIN_VALUE)) * box.height * 10) / 10;
  let path = `M0 ${box.height}`;
  for (const [index, step] of steps.entries()) {
    const next = steps[index + 1];
    if (next !== undefined && x(next.at) === x(step.at)) continue;
    path += `H${x(step.at)}V${y(value(step))}`;
  }
  return `${path}H${box.width}`;
}
