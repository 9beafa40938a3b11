import { LONGEST_CYCLE, type Round } from '../../protocol/state/repetition.ts';

/**
 * Counts the calls at the end of a task that only repeat earlier ones: the same calls with the same results,
 * in each round or in a cycle of up to four rounds. Returns 0 when the newest round is new.
 *
 * @param rounds the rounds of the task, oldest first
 */
export function countRepeatedCalls(rounds: readonly Round[]): number {
  const newestFirst = rounds.toReversed();
  let most = 0;
  for (let cycle = 1; cycle <= LONGEST_CYCLE; cycle += 1) {
    const end = newestFirst.findIndex((round, at) => round !== newestFirst[at + cycle]);
    const repeating = Math.max(end, 0);
    // Rounds are a cycle only when they have run through it twice.
    if (repeating < cycle) continue;
    const calls = newestFirst
      .slice(0, repeating + cycle)
      .reduce((sum, { told }) => sum + told.length, 0);
    most = Math.max(most, calls);
  }
  return most;
}
