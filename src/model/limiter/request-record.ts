/** The history of a request that was refused or had to wait. It is kept until an attempt succeeds. */
export interface RequestRecord {
  /** The number of the request among all that ever waited. It stays the same after a refusal. */
  readonly order: number;
  /** The time at which it first waited, on a monotonic clock. */
  readonly since: number;
  refusals: number;
  /** The time of the last refusal. */
  refusedAt: number;
  /** The earliest time at which it is sent again. */
  notBefore: number;
}

/** The most requests that the provider has served at the same time, by the time at which that was observed. */
export class ServedPeaks {
  /** Sorted by time, with falling counts: a later peak removes the smaller ones before it. */
  private readonly peaks: { readonly at: number; readonly count: number }[] = [];

  /** Adds an observation. `at` is never smaller than in the call before. */
  add(at: number, count: number): void {
    while ((this.peaks.at(-1)?.count ?? Infinity) <= count) this.peaks.pop();
    this.peaks.push({ at, count });
  }

  peakSince(at: number): number {
    return this.peaks.find((one) => one.at >= at)?.count ?? 0;
  }
}

/**
 * Returns true if a refusal concerns only this request: as many other requests were served at a time since it was
 * refused before. Such a request waits alone, and the others go on.
 */
export function isRefusalSpecific(
  { refusals, refusedAt }: RequestRecord,
  { served, level }: { readonly served: ServedPeaks; readonly level: number },
): boolean {
  return refusals > 0 && served.peakSince(refusedAt) >= level;
}
