import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** A factor for the number of random scripts, compared with an ordinary test. */
    randomRuns?: number;
  }
}

const times = inject('randomRuns') ?? 1;

/** The parameters of a property, with a time limit that grows with them. `timeout` is for vitest. */
export function randomRuns(numRuns: number) {
  return { runs: { numRuns: numRuns * times }, test: { timeout: 240_000 * times } };
}
