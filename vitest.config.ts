import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** `MUSTER_RANDOM_RUNS=20` runs each random script test 20 times as often. */
const randomRuns = Number(process.env['MUSTER_RANDOM_RUNS'] ?? 1);

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/compiled-code.ts'],
    // Most tests wait for processes and timers rather than compute: one worker more than cores.
    maxWorkers: availableParallelism() + 1,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    provide: { randomRuns },
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      reporter: ['text-summary', 'json-summary'],
      thresholds: { lines: 80 },
    },
  },
});
