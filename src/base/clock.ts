/**
 * Time as a port, so that a replay can take it from the log and a test can control it. `now` is the wall clock
 * in milliseconds since the epoch, for dates and times of day. The wall clock may be set while a process runs,
 * so the difference between two readings of it is not a duration. `monotonic` is for durations and deadlines, in
 * milliseconds: it starts at the time of the wall clock when the process starts, and then advances evenly.
 */
export interface Clock {
  /** Returns the time of the wall clock in milliseconds since the epoch. */
  now(): number;
  /** Returns a time for durations, in milliseconds. It never goes back. */
  monotonic(): number;
}

/** The total time for which this process was stopped, in milliseconds. */
let stoppedMs = 0;

/** Difference between the wall clock and the system's monotonic clock when this process started. */
const startMs = measureOffset(Date.now, systemMs);

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => startMs + systemMs() - stoppedMs,
};

/**
 * The smallest difference that is reported. The two clocks are not read at the same instant, so they always differ a
 * little.
 */
export const MIN_SHIFT_MS = 100;

/**
 * Returns the number of milliseconds by which the wall clock is ahead of the monotonic clock, because the wall
 * clock was set or the computer slept. The result is negative if the wall clock is behind, and 0 if the
 * difference is less than a tenth of a second. `now` is a reading of the wall clock that was just taken.
 */
export function measureClockShift(clock: Clock, now = clock.now()): number {
  if (readShift(clock, now) === 0) return 0;
  // A pause of the process between two readings looks like a clock that was set, so a second pair of them decides.
  return readShift(clock, clock.now());
}

function readShift(clock: Clock, now: number): number {
  const shift = Math.round(now - clock.monotonic());
  return Math.abs(shift) < MIN_SHIFT_MS ? 0 : shift;
}

/**
 * Runs a function that may stop this process (Ctrl+Z). The monotonic clock counts neither the time for which the
 * process is stopped nor the time for which the computer sleeps.
 */
export function pauseClockDuring(stop: () => void): void {
  const before = systemMs();
  stop();
  stoppedMs += systemMs() - before;
}

/**
 * Returns by how many milliseconds `now` is ahead of `monotonic`. A pause of the process between two readings would
 * count as a difference, so the pair of readings with the shortest pause is used.
 */
export function measureOffset(now: () => number, monotonic: () => number): number {
  const pairs = [0, 1, 2].map(() => {
    const before = monotonic();
    const offset = now() - before;
    return { offset, pause: monotonic() - before };
  });
  return pairs.reduce((best, pair) => (pair.pause < best.pause ? pair : best)).offset;
}

/**
 * Reads the system's monotonic clock. `hrtime` is used because loading `performance` delays each start by a
 * millisecond.
 */
function systemMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1_000_000;
}
