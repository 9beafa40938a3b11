import { vi } from 'vitest';

/**
 * Repeats a check until it passes. The wait ends with its test: the time limit is that of a test.
 * `expect.poll` would need to know the current test, which Vitest cannot tell while several tests run at the same time.
 */
export async function waitUntilPasses(check: () => Promise<void> | void): Promise<void> {
  await vi.waitFor(check, { timeout: 240_000, interval: 50 });
}
