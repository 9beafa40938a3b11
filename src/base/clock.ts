/**
 * Time as a port, so that a replay can take it from the log and a test can hold it still.
 * `now` is the wall clock, in milliseconds since the epoch: for dates and times of day. Somebody may
 * set it while a process runs, so that two readings of it give no duration.
 * `monotonic` is for durations and deadlines: it starts at the wall clock's time when the process
 * starts, and from there advances evenly whatever happens to the wall clock.
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

/** A smaller difference comes from the rounding of two clocks that are not read at the same instant. */
const LEAST_SHIFT_MS = 100;

/**
 * Returns the milliseconds by which the wall clock is ahead of the monotonic one (negative: behind it),
 * because somebody set it or the computer slept. 0 for less than a tenth of a second. `now`: what the
 * wall clock has just said.
 */
export function measureClockShift(clock: Clock, now = clock.now()): number {
  const shift = Math.round(now - clock.monotonic());
  return Math.abs(shift) < LEAST_SHIFT_MS ? 0 : shift;
}

/** Runs what may stop this process (Ctrl+Z); for its clock, as in a computer that sleeps, no time passes meanwhile. */
export function pauseClockDuring(stop: () => void): void {
  const before = systemMs();
  stop();
  stoppedMs += systemMs() - before;
}

/** `performance` would do, and takes a millisecond of each start to load. */
function systemMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1_000_000;
}
