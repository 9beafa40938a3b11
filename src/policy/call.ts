import type { Access } from '../protocol/permission.ts';
import type { ToolKind } from '../protocol/tool.ts';

/** A path of a call: the path that the call names, and the path after all links are resolved. */
export interface CallPath {
  /** The path that the call names. Absolute, links not resolved. */
  readonly asked: string;
  /** Absolute, links resolved. If the path does not exist yet, the links in its existing parents are resolved. */
  readonly real: string;
  /** True if `real` may be used without a question: it lies in a root, or belongs to the task. */
  readonly insideRoots: boolean;
  /** Set for a file that the task may always read: a saved output of the task, or a file of a skill that it uses. */
  readonly isOwn?: true;
  /** Set for a path at which nothing exists yet. */
  readonly isNew?: true;
  /** The state of the disk that makes the path risky, so that only a person can allow it. */
  readonly risk?: PathRisk;
}

/**
 * `other_names`: the file has hard links, which may lie outside the workspace. `git_directory`: the path lies in a git
 * directory that is not called `.git`. `obeyed_by_git`: the configuration of a repository names the path.
 */
export type PathRisk = 'other_names' | 'git_directory' | 'obeyed_by_git';

/** Everything that a call would read, write or use, with its paths resolved. */
export interface ResolvedAccess extends Omit<Access, 'reads' | 'writes'> {
  readonly reads: readonly CallPath[];
  readonly writes: readonly CallPath[];
}

/**
 * The result of the attempt to prove that the commands of a call change nothing, in the directory where they would run.
 */
export type CommandProof =
  /** `reads` contains every path that the commands are known to read. */
  | { readonly proven: true; readonly reads: readonly CallPath[] }
  /** `reason` follows the words "not proved to change nothing:". */
  | { readonly proven: false; readonly reason: string; readonly isOverLimit?: true };

/** A tool call with all properties that permission decisions depend on. */
export interface ResolvedCall {
  /** The canonical name. */
  readonly tool: string;
  readonly kind: ToolKind;
  readonly access: ResolvedAccess;
  /** True if the tool exists and is one of the task's tools. */
  readonly inToolSet: boolean;
  /** The proof for a call with commands. If it is absent, no proof was attempted, so nothing is proved. */
  readonly proof?: CommandProof;
  /** Files to which the commands are known to write by redirection. Default: none. */
  readonly redirectedWrites?: readonly CallPath[];
}

/** Lists every path that a call reads or writes. */
export function listPaths(access: ResolvedAccess): readonly CallPath[] {
  return [...access.reads, ...access.writes];
}
