import { setTimeout as sleep } from 'node:timers/promises';

/** Of the time of the event loop: above it, the process is at work. */
const AT_WORK = 0.5;

export interface IdleWaitOptions {
  /** The time over which is looked whether the process is at work, in milliseconds: the least that is waited. */
  readonly sampleMs: number;
  /** The longest that is waited, in milliseconds. */
  readonly maxMs: number;
}

/**
 * Resolves when the process has little else to do: for work that nobody waits for, and that would hold
 * up what somebody does. It keeps no process alive.
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
