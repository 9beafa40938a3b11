import type { ItemRow } from './item-rows.ts';

/** The parts of an attempt that decide whether it is the best one. */
export type ComparedAttempt = Pick<
  ItemRow,
  'index' | 'attempt' | 'status' | 'score' | 'changes' | 'costUsd'
>;

/**
 * Finds the best attempt for each item, among those that are completed and were given a score if there are scores. An
 * item without such an attempt has none.
 *
 * @param isScored whether a command scores the attempts
 */
export function findBestAttempts<Attempt extends ComparedAttempt>(
  attempts: readonly Attempt[],
  isScored: boolean,
): readonly Attempt[] {
  const candidates = attempts.filter(
    ({ status, score }) => status === 'completed' && (!isScored || hasScore(score)),
  );
  return [...Map.groupBy(candidates, ({ index }) => index).values()].flatMap(
    (group) => group.toSorted(compareAttempts)[0] ?? [],
  );
}

/** Returns true if a command has ended by itself, with success or at least with a number. */
function hasScore(score: ComparedAttempt['score']): boolean {
  return score !== null && score.problem === null && (score.exitCode === 0 || score.value !== null);
}

/**
 * Compares two attempts; a negative number means that the first one is better. A command that exits with 0 is better than
 * one that does not, a number is better than none, and a larger number is better than a smaller one. Between equal scores,
 * changes are better than none, fewer changed lines are better than more, and a lower cost is better than a higher one.
 */
export function compareAttempts(a: ComparedAttempt, b: ComparedAttempt): number {
  const [first, second] = [listMerits(a), listMerits(b)];
  for (const [at, merit] of first.entries()) {
    const other = second[at] ?? 0;
    if (merit !== other) return merit > other ? -1 : 1;
  }
  return 0;
}

/** Lists the numbers by which an attempt is compared, the most important one first. More is better. */
function listMerits({ score, changes, costUsd, attempt }: ComparedAttempt): readonly number[] {
  const { fileCount = 0, addedLines = 0, deletedLines = 0 } = changes ?? {};
  return [
    score?.exitCode === 0 ? 1 : 0,
    score?.value ?? -Infinity,
    fileCount > 0 ? 1 : 0,
    -(addedLines + deletedLines),
    -(costUsd ?? Infinity),
    -attempt,
  ];
}
