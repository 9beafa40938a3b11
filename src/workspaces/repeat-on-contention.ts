import { setTimeout as sleep } from 'node:timers/promises';
import { GitError } from './git.ts';

const MAX_ATTEMPTS = 8;
const FIRST_DELAY_MS = 60;
/** The number of times that the delay is doubled. */
const MAX_DOUBLINGS = 4;
/**
 * The messages of git if another process changes the same files at the moment: it holds a lock, or has written only a
 * part of the directory of another worktree.
 */
const CONTENTION =
  /\.lock['’]?: File exists|unable to lock|failed to read .*worktrees\/|commondir/i;

/** Runs git until it succeeds, at most 8 times, if another process stands in the way. Throws its last error. */
export async function repeatOnContention<T>(run: (attempt: number) => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await run(attempt);
    } catch (thrown) {
      const isContention = thrown instanceof GitError && CONTENTION.test(thrown.output);
      if (!isContention || attempt + 1 === MAX_ATTEMPTS) throw thrown;
      // Processes that have met once must not meet again.
      await sleep(FIRST_DELAY_MS * 2 ** Math.min(attempt, MAX_DOUBLINGS) * (0.5 + Math.random()));
    }
  }
}
