import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongFilesFirst } from './test/long-files-first.ts';
import { WORLD } from './test/world.ts';

/** `MUSTER_RANDOM_RUNS=20` runs each random script test 20 times as often. */
const randomRuns = Number(process.env['MUSTER_RANDOM_RUNS'] ?? 1);

/** The part of the long tests that runs alone (`npm run test:world`); undefined: all but those run. */
const part = process.env['MUSTER_TEST_WORLD'];
const world = Object.values(WORLD).flat();

/** Tests that change or count what a whole process has: its umask, its directory, its descriptors, its children. */
const ISOLATED = [
  'test/{crash,faults,hostile,package}/**/*.test.ts',
  'test/sys/{files,processes}/**/*.test.ts',
  'test/sys/sandbox/{bubblewrap,escapes,git-escapes}.test.ts',
  // Work that other tests leave behind in a process keeps searches from being shared.
  'test/engine/calls/shared-searches.test.ts',
  // It counts the listeners of its process, and other tests leave stores in memory open.
  'test/store/files/exit-cleanup.test.ts',
];

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        // One worker runs many files: loading the modules again for each takes a fifth of the time of all.
        test: {
          name: 'shared',
          include: part === undefined ? ['test/**/*.test.ts'] : [],
          exclude: [...ISOLATED, ...world],
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'isolated',
          include: part === undefined ? ISOLATED : [...(WORLD[part] ?? [])],
          exclude: part === undefined ? world : [],
        },
      },
    ],
    sequence: { sequencer: LongFilesFirst },
    globalSetup: ['test/compiled-code.ts'],
    // Tests start programs, which keep all cores busy with few workers. With more of them, each test only takes longer.
    maxWorkers: availableParallelism() + 1,
    // A test may take this long on a machine that is busy with something else. It only ends tests that hang: no test
    // asserts a time.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 120_000 } },
    provide: { randomRuns },
    // Below 2, a bash whose stdin is a socket reads the start files of whoever runs the tests (bash(1), Invocation).
    env: { SHLVL: '2' },
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      reporter: ['text-summary', 'json-summary'],
      thresholds: { lines: 80 },
    },
  },
});
