import type { Access } from '../protocol/permission.ts';
import type { ToolKind } from '../protocol/tool.ts';

export { isInside } from '../base/path-inside.ts';

/** A path of a call: the path that it names, and the path that this leads to. */
export interface CallPath {
  /** Absolute, links not resolved. */
  readonly asked: string;
  /** Absolute, links resolved. For a path that does not exist yet, the links of its nearest existing parent are. */
  readonly real: string;
  /** True if `real` may be touched without a question: it is inside a root, or a file that belongs to the task. */
  readonly insideRoots: boolean;
  /** Set for a file that the task may always read: its output, or a file of a skill that it uses. */
  readonly isOwn?: true;
  /** Set for a path at which nothing exists yet. */
  readonly isNew?: true;
  /** The reason why only a person can allow the path, as found on the disk. */
  readonly risk?: PathRisk;
}

/**
 * `other_names`: the file has hard links, which may lie outside the workspace. `git_directory`: the path lies in a git
 * directory that is not called `.git`. `obeyed_by_git`: the configuration of a repository names the path.
 */
export type PathRisk = 'other_names' | 'git_directory' | 'obeyed_by_git';

/** Everything that a call would touch, its paths resolved. */
export interface ResolvedAccess extends Omit<Access, 'reads' | 'writes'> {
  readonly reads: readonly CallPath[];
  readonly writes: readonly CallPath[];
}

/** Tells whether the commands of a call were proved to change nothing, in the directory where they would run. */
export type CommandProof =
  /** `reads`: every path that the commands are known to read. */
  | { readonly proven: true; readonly reads: readonly CallPath[] }
  /** `reason` follows the words "not proved to change nothing:". */
  | { readonly proven: false; readonly reason: string; readonly isOverLimit?: true };

/** A tool call with everything that policy has to know about it. */
export interface ResolvedCall {
  /** The canonical name. */
  readonly tool: string;
  readonly kind: ToolKind;
  readonly access: ResolvedAccess;
  /** True if the tool exists and is one of the task's tools. */
  readonly inToolSet: boolean;
  /** The proof for a call with commands. If it is absent, no proof was attempted, so nothing is proved. */
  readonly proof?: CommandProof;
  /** Files to which its commands are known to write by redirection. Default: none. */
  readonly redirectedWrites?: readonly CallPath[];
}

/** Lists every path that a call reads or writes. */
export function listPaths(access: ResolvedAccess): readonly CallPath[] {
  return [...access.reads, ...access.writes];
}
