/** The waits before the next attempts to reach the server, in milliseconds; the last one repeats. */
const RETRY_MS = [200, 500, 1_000, 2_000] as const;
const LONGEST_RETRY_MS = 5_000;
/** The time for which a stream must have been open to count as one that works, in milliseconds. */
const STEADY_MS = 10_000;

/** Returns the wait in milliseconds after a number of failures in a row, from 1 on. */
export function retryDelay(failures: number): number {
  return RETRY_MS[failures - 1] ?? LONGEST_RETRY_MS;
}

/** The course of a stream until it failed. */
export interface StreamCourse {
  /** True if it has sent a message that the page did not have. */
  readonly hasProgressed: boolean;
  /** The time for which it was open, in milliseconds; 0 if it never was. */
  readonly openMs: number;
}

/**
 * Returns the number of failures in a row after a stream has failed, from the number before. A server that accepts each
 * connection and ends it at once must not be asked again without a growing wait.
 */
export function countStreamFailures(
  before: number,
  { hasProgressed, openMs }: StreamCourse,
): number {
  return hasProgressed || openMs >= STEADY_MS ? 1 : before + 1;
}
