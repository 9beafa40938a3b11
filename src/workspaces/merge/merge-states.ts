import { isSameState, type PathState } from '../difference.ts';
import type { ConflictReason } from './conflict.ts';
import {
  MAX_MERGE_BYTES,
  MAX_MERGE_LINES,
  mergeTexts,
  type ConflictHunk,
  type Versions,
} from './merge-text.ts';

/** The result of merging one path. */
export type StateMerge =
  | { readonly kind: 'merged'; readonly state: PathState }
  | {
      readonly kind: 'conflict';
      readonly reason: ConflictReason;
      readonly message: string;
      readonly hunks?: readonly ConflictHunk[];
    };

type File = Extract<PathState, { kind: 'file' }>;

/**
 * Merges the three versions of one path. A side that has changed nothing takes over the other side. `unmergeable` is the
 * reason why lines of the file can't be merged.
 */
export function mergeStates(versions: Versions<PathState>, unmergeable?: string): StateMerge {
  const { base, ours, theirs } = versions;
  if (isSameState(ours, theirs) || isSameState(theirs, base)) return merged(ours);
  if (isSameState(ours, base)) return merged(theirs);
  if (ours === null) {
    return conflict('deleted_by_user', 'was changed by the task and deleted by you');
  }
  if (theirs === null) {
    return conflict('deleted_by_task', 'was deleted by the task and changed by you');
  }
  if (ours.kind !== 'file' || theirs.kind !== 'file' || base?.kind === 'link') {
    const message =
      ours.kind === theirs.kind
        ? 'is a link that you and the task have changed'
        : `is a ${ours.kind} in your tree, and a ${theirs.kind} in that of the task`;
    return conflict('kind', message);
  }
  return mergeFiles({ base, ours, theirs }, unmergeable);
}

function mergeFiles(
  { base, ours, theirs }: { base: File | null; ours: File; theirs: File },
  unmergeable?: string,
): StateMerge {
  const contents = {
    base: base?.bytes ?? Buffer.alloc(0),
    ours: ours.bytes,
    theirs: theirs.bytes,
  };
  const bytes = takeOneSide(contents);
  const executable = ours.executable === base?.executable ? theirs.executable : ours.executable;
  if (base === null) {
    if (ours.bytes.equals(theirs.bytes)) {
      return conflict('both_added', 'was created by both, executable on one side only');
    }
    const merge = mergeTexts(contents);
    const hunks = merge.kind === 'conflict' ? merge.hunks : [];
    return conflict('both_added', 'was created by you and by the task', hunks);
  }
  if (bytes !== null) return merged({ kind: 'file', executable, bytes });
  if (unmergeable !== undefined) {
    return conflict('unmergeable', `was changed by you and by the task, and ${unmergeable}`);
  }
  const merge = mergeTexts(contents);
  switch (merge.kind) {
    case 'merged':
      return merged({ kind: 'file', executable, bytes: merge.bytes });
    case 'conflict':
      return conflict(
        'content',
        'has changes of you and of the task at the same lines',
        merge.hunks,
      );
    case 'binary':
      return conflict('binary', 'is a binary file that you and the task have changed');
    case 'too_large':
      return conflict(
        'too_large',
        `was changed by you and by the task, and files of more than ${MAX_MERGE_BYTES} bytes or ${MAX_MERGE_LINES} lines are not merged`,
      );
  }
}

/** Returns the content if only one side has changed it, or both in the same way; otherwise null. */
function takeOneSide({ base, ours, theirs }: Versions<Buffer>): Buffer | null {
  if (theirs.equals(base) || theirs.equals(ours)) return ours;
  return ours.equals(base) ? theirs : null;
}

function merged(state: PathState): StateMerge {
  return { kind: 'merged', state };
}

function conflict(
  reason: ConflictReason,
  message: string,
  hunks: readonly ConflictHunk[] = [],
): StateMerge {
  return { kind: 'conflict', reason, message, hunks };
}
