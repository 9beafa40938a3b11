import { defineConfig } from 'vitest/config';

/** The long form of the crash tests: `npm run test:crash`. */
export default defineConfig({
  test: {
    include: ['test/crash/**/*.{test,crash}.ts'],
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 240_000 } },
    provide: { kills: 200, killsWithResume: 300 },
  },
});
