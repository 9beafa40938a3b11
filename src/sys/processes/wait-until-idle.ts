import { setTimeout as sleep } from 'node:timers/promises';

/** The utilization of the event loop above which the process counts as busy. */
const MAX_IDLE_UTILIZATION = 0.5;

/** Time limits for `waitUntilIdle`. */
export interface IdleWaitOptions {
  /** The time over which the load is measured, in milliseconds. It is also the minimum wait. */
  readonly sampleMs: number;
  /** The maximum wait, in milliseconds. */
  readonly maxMs: number;
}

/**
 * Resolves when this process has little to do. Use it before work that nobody waits for and that would delay other
 * work. The wait does not keep the process alive.
 */
export async function waitUntilIdle({ sampleMs, maxMs }: IdleWaitOptions): Promise<void> {
  for (let waited = 0; waited < maxMs; waited += sampleMs) {
    const before = performance.eventLoopUtilization();
    await sleep(sampleMs, undefined, { ref: false });
    if (performance.eventLoopUtilization(before).utilization < MAX_IDLE_UTILIZATION) return;
  }
}
