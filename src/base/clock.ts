/**
 * Time as a port, so that a replay can take it from the log and a test can control it. `now` is the wall clock
 * in milliseconds since the epoch, for dates and times of day. It may be set while a process runs, so the
 * difference of two readings is not a duration. `monotonic` is for durations and deadlines: it starts at the
 * time of the wall clock when the process starts, and advances evenly from then on.
 */
export interface Clock {
  now(): number;
  monotonic(): number;
}

/** Milliseconds in which this process was stopped. */
let stoppedMs = 0;

/** Difference between the wall clock and the system's monotonic clock when this process started. */
const startMs = Date.now() - systemMs();

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => startMs + systemMs() - stoppedMs,
};

/** Smaller differences come from rounding, because the two clocks are not read at the same instant. */
const LEAST_SHIFT_MS = 100;

/**
 * Returns the milliseconds by which the wall clock is ahead of the monotonic one (negative: behind), because it
 * was set or the computer slept. Returns 0 for less than a tenth of a second. `now`: a reading of the wall
 * clock that was just taken.
 */
export function measureClockShift(clock: Clock, now = clock.now()): number {
  const shift = Math.round(now - clock.monotonic());
  return Math.abs(shift) < LEAST_SHIFT_MS ? 0 : shift;
}

/**
 * Runs a function that may stop this process (Ctrl+Z). The monotonic clock does not count the time in which the
 * process is stopped, like the time in which a computer sleeps.
 */
export function pauseClockDuring(stop: () => void): void {
  const before = systemMs();
  stop();
  stoppedMs += systemMs() - before;
}

/** Uses `hrtime` because `performance` takes a millisecond of each start to load. */
function systemMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1_000_000;
}
