import type { PathDifference } from '../difference.ts';
import type { Conflict } from '../merge/conflict.ts';
import { mergeDifferences } from '../merge/merge-differences.ts';
import { openSourceTree } from './source-tree.ts';

/** The permission bits that files and directories get if they do not exist when they are written, by path. */
export interface KnownModes {
  readonly files: ReadonlyMap<string, number>;
  readonly directories: ReadonlyMap<string, number>;
}

/** The changes that a landing makes to the source. */
export interface LandingPlan {
  readonly kind: 'ready';
  /** The tree that is changed: absolute, without links. */
  readonly source: string;
  /** The changes from the present tree to the merged one; none if the tree already has all changes of the task. */
  readonly changes: readonly PathDifference[];
  /** Default: set by the umask. */
  readonly modes?: KnownModes;
}

/** The reasons why differences can't land. */
export interface LandingConflicts {
  readonly kind: 'conflicts';
  readonly conflicts: readonly Conflict[];
}

/**
 * Merges the differences of a task with the source as it is now. Changes nothing. Throws MusterError if the source can't
 * be read.
 *
 * @param source the absolute, real path of the tree
 */
export function planLanding(
  differences: readonly PathDifference[],
  source: string,
): LandingPlan | LandingConflicts {
  const { changes, conflicts } = mergeDifferences(differences, openSourceTree(source));
  return conflicts.length > 0
    ? { kind: 'conflicts', conflicts }
    : { kind: 'ready', source, changes };
}
