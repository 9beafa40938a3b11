import { isSameState, type PathDifference, type PathState } from '../difference.ts';
import type { Conflict, ConflictReason } from './conflict.ts';
import { createObstacleSearch, isLandingPath, type Obstacle } from './find-obstacle.ts';
import { mergeStates, type StateMerge } from './merge-states.ts';
import type { UserTree } from './user-tree.ts';

/** The changes that bring the user's tree to the merged state, or the reasons why there is no such state. */
export interface Merge {
  /**
   * The changes from the user's tree to the merged one, sorted by path. `before` is the state in the user's tree. Paths
   * without a change are left out.
   */
  readonly changes: readonly PathDifference[];
  /** The differences that can't be merged. If there are any, nothing may be written. */
  readonly conflicts: readonly Conflict[];
}

/**
 * Merges the differences of a task with the user's tree, path by path. If the user has edited a file that the task has
 * renamed, the edits move to the new path.
 */
export function mergeDifferences(differences: readonly PathDifference[], tree: UserTree): Merge {
  const context: MergeContext = {
    tree,
    left: new Map(differences.map(({ path, after }) => [path, after])),
    movedAway: new Set(differences.flatMap(({ from }) => (from === undefined ? [] : [from]))),
  };
  const merged: { readonly change: PathDifference; readonly difference: PathDifference }[] = [];
  const conflicts: Conflict[] = [];
  for (const difference of differences) {
    const result = mergeDifference(difference, context);
    if (result?.kind === 'conflict') conflicts.push(toConflict(difference, tree, result));
    if (result?.kind === 'change') merged.push({ change: result.change, difference });
  }
  const findObstacle = createObstacleSearch(
    merged.map(({ change }) => change),
    tree,
  );
  const changes: PathDifference[] = [];
  for (const { change, difference } of merged) {
    const obstacle = findObstacle(change);
    if (obstacle === null) changes.push(change);
    else conflicts.push(toConflict(difference, tree, obstacle));
  }
  return { changes: changes.toSorted(byPath), conflicts: conflicts.toSorted(byPath) };
}

function byPath(a: { readonly path: string }, b: { readonly path: string }): number {
  if (a.path === b.path) return 0;
  return a.path < b.path ? -1 : 1;
}

interface MergeContext {
  readonly tree: UserTree;
  /** The state that the task has left at each path that it has changed. */
  readonly left: ReadonlyMap<string, PathState>;
  /** The old paths of the files that the task has renamed. */
  readonly movedAway: ReadonlySet<string>;
}

type Failure = Extract<StateMerge, { kind: 'conflict' }> | Obstacle;
type DifferenceMerge = { readonly kind: 'change'; readonly change: PathDifference } | Failure;

function mergeDifference(
  difference: PathDifference,
  context: MergeContext,
): DifferenceMerge | null {
  const { path, from } = difference;
  if (!isLandingPath(path) || (from !== undefined && !isLandingPath(from))) {
    return fail('protected', 'belongs to a git directory, or leads out of the tree');
  }
  if (from !== undefined) return mergeRename({ ...difference, from }, context);
  const { before, after, unmergeable } = difference;
  // What the user has at a path from which a file is moved away goes with that file.
  const ours = context.movedAway.has(path) ? null : context.tree.read(path);
  const merge = mergeStates({ base: before, ours, theirs: after }, unmergeable);
  const isOccupied =
    merge.kind === 'conflict' && ours === null && context.tree.kindOf(path) !== 'nothing';
  if (isOccupied) return fail('occupied', 'is neither a file nor a link in your tree');
  return toChange(merge, { path, before: ours });
}

function mergeRename(
  { path, from, before, after, unmergeable }: PathDifference & { readonly from: string },
  { tree, left, movedAway }: MergeContext,
): DifferenceMerge | null {
  const atOld = tree.read(from);
  const atNew = tree.read(path);
  const isNewPathFree = atNew === null || movedAway.has(path);
  if (isSameState(atNew, after) && isSameState(atOld, left.get(from) ?? null)) return null;
  if (atOld === null) {
    if (atNew === null)
      return fail('deleted_by_user', `was renamed from ${from}, which you deleted`);
    // The user has renamed the file in the same way, or the rename has landed before.
    const merge = mergeStates({ base: before, ours: atNew, theirs: after }, unmergeable);
    return toChange(merge, { path, before: atNew });
  }
  if (!isNewPathFree) {
    return isSameState(atNew, after) && isSameState(atOld, before)
      ? { kind: 'change', change: { path: from, before: atOld, after: null } }
      : fail('both_added', `was renamed from ${from} by the task, and you have another file there`);
  }
  const merge = mergeStates({ base: before, ours: atOld, theirs: after }, unmergeable);
  if (merge.kind === 'conflict') return merge;
  return { kind: 'change', change: { path, from, before: atOld, after: merge.state } };
}

function toChange(
  merge: StateMerge,
  { path, before }: Pick<PathDifference, 'path' | 'before'>,
): DifferenceMerge | null {
  if (merge.kind === 'conflict') return merge;
  if (isSameState(merge.state, before)) return null;
  return { kind: 'change', change: { path, before, after: merge.state } };
}

function fail(reason: ConflictReason, message: string): Failure {
  return { kind: 'conflict', reason, message };
}

function toConflict(difference: PathDifference, tree: UserTree, failure: Failure): Conflict {
  const { path, from, before, after } = difference;
  const { reason, message } = failure;
  return {
    path,
    ...(from === undefined ? {} : { from }),
    reason,
    message,
    base: before,
    ours: reason === 'protected' ? null : tree.read(from ?? path),
    theirs: after,
    hunks: 'hunks' in failure ? (failure.hunks ?? []) : [],
  };
}
