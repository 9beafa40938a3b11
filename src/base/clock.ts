/**
 * Time as a port, so that a replay can take it from the log and a test can hold it still.
 * `now` is milliseconds since the epoch, for people and logs; `monotonic` milliseconds from an
 * unknown start, for durations and deadlines.
 */
export interface Clock {
  now(): number;
  monotonic(): number;
}

/** Milliseconds in which this process was stopped. */
let stoppedMs = 0;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => systemMs() - stoppedMs,
};

/** Runs what may stop this process (Ctrl+Z); for its clock, as in a computer that sleeps, no time passes meanwhile. */
export function standStill(stop: () => void): void {
  const before = systemMs();
  stop();
  stoppedMs += systemMs() - before;
}

/** `performance` would do, and takes a millisecond of each start to load. */
function systemMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1_000_000;
}
