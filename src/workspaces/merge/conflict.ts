import type { PathState } from '../difference.ts';
import type { ConflictHunk } from './merge-text.ts';

/**
 * The reason of a conflict:
 *
 * - `content`: both sides have changed the same or adjacent lines.
 * - `both_added`: both sides have created the file, with different contents.
 * - `deleted_by_user`: the user has deleted the file, which the task has changed.
 * - `deleted_by_task`: the task has deleted the file, which the user has changed.
 * - `binary`, `too_large`, `unmergeable`: both sides have changed a file whose lines can't be merged.
 * - `kind`: the path is a file on one side and a link on the other, or both sides have changed a link.
 * - `occupied`: the path is, or goes through, something that the landing would have to remove.
 * - `letter_case`: the name differs only in letter case from another one, and the file system does not distinguish them.
 * - `protected`: the path belongs to a git directory or is not a path inside the tree.
 */
export type ConflictReason =
  | 'content'
  | 'both_added'
  | 'deleted_by_user'
  | 'deleted_by_task'
  | 'binary'
  | 'too_large'
  | 'unmergeable'
  | 'kind'
  | 'occupied'
  | 'letter_case'
  | 'protected';

/** A change of a task that can't be merged with the user's tree. */
export interface Conflict {
  readonly path: string;
  /** The old path if the task has renamed the file. */
  readonly from?: string;
  readonly reason: ConflictReason;
  /** Says what the conflict is, as a part of a sentence that follows the path: `is a directory that is not empty`. */
  readonly message: string;
  /** The state from which the task started. */
  readonly base: PathState;
  /** The state in the user's tree; null also if something is there that is neither a file nor a link. */
  readonly ours: PathState;
  /** The state that the task has left. */
  readonly theirs: PathState;
  /** The places of a conflict of the reasons `content` and `both_added`. Otherwise empty. */
  readonly hunks: readonly ConflictHunk[];
}
