import type { Access } from '../protocol/permission.ts';
import type { ToolKind } from '../protocol/tool.ts';

export { isInside } from '../base/path-inside.ts';

/** A path of a call, as asked for and as it really is. */
export interface CallPath {
  /** Absolute, links not resolved. */
  readonly asked: string;
  /** Absolute, after resolving links; for what does not exist yet, of its nearest parent that does. */
  readonly real: string;
  /** Whether `real` may be touched without a question: inside a root, or a file of the task's own. */
  readonly insideRoots: boolean;
  /** Whether it is a file that the task may read for its own sake: its output, or a file of a skill it uses. */
  readonly isOwn?: true;
  /** Whether nothing is there yet. */
  readonly isNew?: true;
  /** What the disk tells of it that only a person may decide about. */
  readonly risk?: PathRisk;
}

/**
 * `other_names`: hard links, which may lie outside; `git_directory`: under another name than `.git`;
 * `obeyed_by_git`: beside one, by the repository's configuration.
 */
export type PathRisk = 'other_names' | 'git_directory' | 'obeyed_by_git';

/** What a call would touch, with its paths resolved. */
export interface ResolvedAccess extends Omit<Access, 'reads' | 'writes'> {
  readonly reads: readonly CallPath[];
  readonly writes: readonly CallPath[];
}

/** Whether the commands of a call were proved to change nothing, looked at in the place where they would run. */
export type CommandProof =
  /** Every path that they are known to read. */
  | { readonly proven: true; readonly reads: readonly CallPath[] }
  /** Why not, in words that follow "not proved to change nothing:". */
  | { readonly proven: false; readonly reason: string; readonly isOverLimit?: true };

/** All that policy needs to know of a tool call. */
export interface ResolvedCall {
  /** Canonical. */
  readonly tool: string;
  readonly kind: ToolKind;
  readonly access: ResolvedAccess;
  /** Whether the tool exists and stands in the task's frozen view. */
  readonly inToolSet: boolean;
  /** For a call with commands. Absent: nobody looked, which proves nothing. */
  readonly proof?: CommandProof;
  /** Files that its commands are known to write to by redirection. Default: none. */
  readonly redirectedWrites?: readonly CallPath[];
}

/** Every path that a call reads or writes. */
export function listPaths(access: ResolvedAccess): readonly CallPath[] {
  return [...access.reads, ...access.writes];
}
