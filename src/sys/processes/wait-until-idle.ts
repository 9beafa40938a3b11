import { setTimeout as sleep } from 'node:timers/promises';

/** The utilization of the event loop above which the process counts as busy. */
const AT_WORK = 0.5;

/** Time limits for `waitUntilIdle`. */
export interface IdleWaitOptions {
  /** The time over which the load is measured, in milliseconds. It is also the shortest wait. */
  readonly sampleMs: number;
  /** The longest wait, in milliseconds. */
  readonly maxMs: number;
}

/**
 * Resolves when the process has little to do: for work that nobody waits for and that would delay other work.
 * It does not keep the process alive.
 */
export async function waitUntilIdle({
  sampleMs: lookMs,
  maxMs: mostMs,
}: IdleWaitOptions): Promise<void> {
  for (let waited = 0; waited < mostMs; waited += lookMs) {
    const before = performance.eventLoopUtilization();
    await sleep(lookMs, undefined, { ref: false });
    if (performance.eventLoopUtilization(before).utilization < AT_WORK) return;
  }
}
