/**
 * Time as a port, so that a replay can take it from the log and a test can hold it still.
 * `now` is milliseconds since the epoch, for people and logs; `monotonic` milliseconds from an
 * unknown start, for durations and deadlines.
 */
export interface Clock {
  now(): number;
  monotonic(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  // `performance` would do, and takes a millisecond of each start to load.
  monotonic: () => {
    const [seconds, nanoseconds] = process.hrtime();
    return seconds * 1_000 + nanoseconds / 1_000_000;
  },
};
