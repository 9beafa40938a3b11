import { LONGEST_CYCLE, type Round } from '../../protocol/state/repetition.ts';

/**
 * How many calls at the end of a task's rounds, oldest first, do nothing but repeat: the same calls with
 * the same results, round after round or in a cycle of up to four. 0 when the newest round is new.
 */
export function countRepeatedCalls(rounds: readonly Round[]): number {
  const newestFirst = rounds.toReversed();
  let most = 0;
  for (let cycle = 1; cycle <= LONGEST_CYCLE; cycle += 1) {
    const end = newestFirst.findIndex((round, at) => round !== newestFirst[at + cycle]);
    const repeating = Math.max(end, 0);
    // A cycle has to be gone through twice before it is one.
    if (repeating < cycle) continue;
    const calls = newestFirst
      .slice(0, repeating + cycle)
      .reduce((sum, { told }) => sum + told.length, 0);
    most = Math.max(most, calls);
  }
  return most;
}
