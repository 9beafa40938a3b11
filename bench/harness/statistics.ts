/** The smallest sample that at least this share (0 to 1) of the samples does not exceed. NaN for no samples. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const rank = Math.max(1, Math.ceil(share * sorted.length));
  return sorted[rank - 1] ?? Number.NaN;
}

/** The middle sample, or the mean of the two in the middle. NaN for no samples. */
export function median(samples: readonly number[]): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
  return (lower + upper) / 2;
}

export interface SampleSummary {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  readonly count: number;
}

export function summarize(samples: readonly number[]): SampleSummary {
  return {
    median: median(samples),
    min: Math.min(...samples),
    max: Math.max(...samples),
    count: samples.length,
  };
}

export interface RatioEstimate {
  /** The median of the ratios of the pairs. */
  readonly ratio: number;
  /** The interval that contains the true median with a probability of at least 95 %. Null below 6 pairs. */
  readonly interval: readonly [low: number, high: number] | null;
}

/**
 * Estimates how many times larger `samples` are than `others`. Sample i of both was taken in the same
 * round, so whatever slowed down the machine during a round affects both values of a pair. Throws when
 * the two differ in length.
 */
export function estimateRatio(
  samples: readonly number[],
  others: readonly number[],
): RatioEstimate {
  if (samples.length !== others.length) {
    throw new Error(`${samples.length} samples cannot be paired with ${others.length}`);
  }
  const ratios = samples.map((sample, index) => sample / (others[index] ?? Number.NaN));
  return { ratio: median(ratios), interval: medianInterval(ratios) };
}

const ERROR_PROBABILITY = 0.05;

/**
 * The confidence interval of the median, from the order statistics: the number of samples below the true
 * median has a binomial distribution, whatever the distribution of the samples.
 */
function medianInterval(samples: readonly number[]): readonly [number, number] | null {
  const sorted = samples.toSorted((a, b) => a - b);
  const { length } = sorted;
  let probability = 0.5 ** length;
  let tail = probability;
  let rank = 0;
  while (rank < length && 2 * tail <= ERROR_PROBABILITY) {
    rank += 1;
    probability *= (length - rank + 1) / rank;
    tail += probability;
  }
  const [low, high] = [sorted[rank - 1], sorted[length - rank]];
  return low === undefined || high === undefined ? null : [low, high];
}
