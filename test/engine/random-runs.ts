import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** How many times as many random scripts are run as in an ordinary test. */
    randomRuns?: number;
  }
}

const times = inject('randomRuns') ?? 1;

/** Parameters of a property, with a time limit that grows with them: `timeout` is vitest's. */
export function randomRuns(numRuns: number) {
  return { runs: { numRuns: numRuns * times }, test: { timeout: 60_000 * times } };
}
