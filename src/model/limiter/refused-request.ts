/** What is known of a request that was refused or had to wait, until one of its tries is accepted. */
export interface RefusedRequest {
  /** Its place among all that ever waited: it keeps it when it is refused. */
  readonly order: number;
  /** When it first asked, on a monotonic clock. */
  readonly since: number;
  refusals: number;
  /** When it was refused last. */
  refusedAt: number;
  /** It is not sent before. */
  notBefore: number;
}

/** The most requests that the provider took together, by when it was seen to. */
export class ServedPeaks {
  /** Falling by `lanes`: what an earlier one has seen and a later one surpassed, is forgotten. */
  private readonly seen: { readonly at: number; readonly lanes: number }[] = [];

  /** `at` never falls. */
  add(at: number, lanes: number): void {
    while ((this.seen.at(-1)?.lanes ?? Infinity) <= lanes) this.seen.pop();
    this.seen.push({ at, lanes });
  }

  mostSince(at: number): number {
    return this.seen.find((one) => one.at >= at)?.lanes ?? 0;
  }
}

/**
 * Whether the provider refuses this request and not its sender: others were taken, as many at a time,
 * since it was refused before. Then it waits alone, and the others go on.
 */
export function isRefusalSpecific(
  { refusals, refusedAt }: RefusedRequest,
  { served, level }: { readonly served: ServedPeaks; readonly level: number },
): boolean {
  return refusals > 0 && served.mostSince(refusedAt) >= level;
}
