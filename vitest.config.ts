import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** `MUSTER_RANDOM_RUNS=20` runs each random script test 20 times as often. */
const randomRuns = Number(process.env['MUSTER_RANDOM_RUNS'] ?? 1);

/** Tests that change what a whole process has: its umask, its directory, its descriptors. */
const ISOLATED = ['test/{crash,faults,hostile,package,sys}/**/*.test.ts'];

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        // One worker runs many files: loading the modules again for each takes a fifth of the time of all.
        test: {
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: ISOLATED,
          isolate: false,
        },
      },
      { extends: true, test: { name: 'isolated', include: ISOLATED } },
    ],
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
