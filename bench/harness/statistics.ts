/** The value below which that share (0 to 1) of the samples lies, the nearest rank. NaN for no samples. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const rank = Math.max(1, Math.ceil(share * sorted.length));
  return sorted[rank - 1] ?? Number.NaN;
}

/** The middle one, or the mean of the two in the middle. NaN for no samples. */
export function median(samples: readonly number[]): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
  return (lower + upper) / 2;
}

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  readonly count: number;
}

export function spreadOf(samples: readonly number[]): Spread {
  return {
    median: median(samples),
    min: Math.min(...samples),
    max: Math.max(...samples),
    count: samples.length,
  };
}
