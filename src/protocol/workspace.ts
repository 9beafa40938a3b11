import type { AcceptanceCriteria } from './acceptance.ts';

/**
 * The ways in which a task can be isolated. `worktree` also stands for a copy where there is no repository. `process`:
 * its tools run in a process of its own.
 */
export const ISOLATIONS = ['none', 'worktree', 'process'] as const;
/**
 * The ways in which a task can be isolated. `worktree` also stands for a copy where there is no repository. `process`:
 * its tools run in a process of its own.
 */
export type Isolation = (typeof ISOLATIONS)[number];

/** The workspace of a task: a tree of files of its own, in which it works instead of in the tree of its parent. */
export interface TaskWorkspace {
  /** `worktree`: a linked working tree of the same git repository. `copy`: a copy of a directory. */
  readonly kind: 'worktree' | 'copy';
  /** The directory for which the workspace stands: absolute, without links. */
  readonly source: string;
  /** The directory of the workspace: absolute, without links. */
  readonly tree: string;
  /** The branch of a worktree. */
  readonly branch?: string;
  /** True if paths of the source in the prompt of the task were replaced by those in the workspace. */
  readonly mapsPaths?: true;
  /** The git directory of the repository of a worktree: absolute, without links. */
  readonly commonDirectory?: string;
}

/** A file that a task left changed in its workspace, or something there that is not landed. */
export interface ChangedFile {
  /** The path relative to the workspace. */
  readonly path: string;
  /** The old path of a renamed file. */
  readonly from?: string;
  readonly status: 'added' | 'deleted' | 'modified' | 'renamed';
  /** The number of added lines; null for a file that is not text. */
  readonly added: number | null;
  /** The number of deleted lines; null for a file that is not text. */
  readonly deleted: number | null;
  /** Why it stays in the workspace and is never landed: git ignores it, or it is a directory that git cannot store. */
  readonly notLanded?: 'ignored' | 'nested';
}

/** A file that could not be merged if the changes of a workspace were applied now. */
export interface ExpectedConflict {
  /** The path relative to the workspace. */
  readonly path: string;
  /** The other side: the tree of the parent, or the task whose workspace changes the same lines. */
  readonly with: 'parent' | { readonly task: string };
}

/** The state of a workspace after its task has ended. */
export interface WorkspaceResult {
  /** False if the task changed nothing. The workspace is then removed. */
  readonly isChanged: boolean;
  /** The changed files, at most `MAX_LISTED_CHANGES`. */
  readonly files: readonly ChangedFile[];
  /** The number of all changed files. */
  readonly fileCount: number;
  /** The number of added lines in all changed files. */
  readonly addedLines: number;
  /** The number of deleted lines in all changed files. */
  readonly deletedLines: number;
  /** The number of commits that the task itself made. */
  readonly commits: number;
  /** The commit that contains everything that the task left; null for a copy. */
  readonly commit: string | null;
  /** The files that could not be merged at the end of the task. */
  readonly conflicts: readonly ExpectedConflict[];
}

/**
 * The state of the changes in a workspace, as its directory says. `unfinished`: a landing, or the undoing of one, has
 * begun and has not ended. `gone`: there is no workspace any more, and nothing says why.
 */
export type LandingState = 'open' | 'unfinished' | 'landed' | 'undone' | 'discarded' | 'gone';

/** The maximum number of changed files that a result lists. */
export const MAX_LISTED_CHANGES = 200;

/** The state in which a workspace is when a task begins or continues to work in it. */
export interface WorkspaceStart {
  /** The commit, or for a copy the time, of the state from which the task began. */
  readonly base: string;
  /** True if the workspace of an earlier activation is still there, with the changes of that activation. */
  readonly isKept: boolean;
  /** Facts that the task should know, such as the failure of the setup command. */
  readonly notes: readonly string[];
}

/** Runs a command line in a directory, confined like the commands of a task. */
export type SetupRunner = (
  command: string,
  directory: string,
) => Promise<{ readonly exitCode: number | null; readonly output: string }>;

/** The part of Muster that creates workspaces and reads what tasks left in them. */
export interface WorkspacePort {
  /** Loads everything that the other functions need. */
  prepare(): Promise<void>;
  /** Returns the reason why a task can't get a workspace for a directory; null if it can. */
  findProblem(cwd: string): string | null;
  /** Returns the workspace that a task will get. Creates nothing. Call it only if `findProblem` returns null. */
  plan(task: {
    readonly id: string;
    readonly cwd: string;
    readonly description: string;
  }): TaskWorkspace;
  /**
   * Creates the workspace of a task, or finds the one that it has. Returns null in reruns. Rejects with MusterError if
   * this is impossible.
   */
  open(
    task: WorkspaceTask,
    options: { readonly signal: AbortSignal; readonly runSetup: SetupRunner },
  ): Promise<WorkspaceStart | null>;
  /**
   * Reads and commits what a task left, and removes an unchanged workspace. Returns null in reruns in which the log
   * does not contain the result.
   */
  close(task: WorkspaceTask): Promise<WorkspaceResult | null>;
  /** Reads what has become of the changes of tasks. A task that the map leaves out has no workspace any more. */
  landingStates(ids: readonly string[]): Promise<ReadonlyMap<string, LandingState>>;
  /** Returns the changes in a workspace as a unified diff of at most `maxLength` UTF-16 units, with a note about the rest. */
  diff(id: string, maxLength: number, signal: AbortSignal): Promise<string>;
  /** Merges the changes of a workspace with the present files of its source, without writing anything. */
  proposeLanding(
    id: string,
    options: { readonly signal: AbortSignal; readonly check: LandingCheck | null },
  ): Promise<LandingProposal>;
  /** Deletes a workspace with its changes. */
  discard(id: string, signal: AbortSignal): Promise<void>;
}

/** The acceptance criteria that merged files must meet, and the runner of their commands. */
export interface LandingCheck {
  readonly criteria: AcceptanceCriteria;
  /** Absolute paths that rules hide from the commands. */
  readonly hidden: readonly string[];
  /** Rejects with PERMISSION_DENIED if the command may not run. */
  readonly run: SetupRunner;
}

/** A task with a workspace. */
export interface WorkspaceTask {
  readonly id: string;
  /** The root task of its tree. */
  readonly root: string;
  readonly description: string;
  readonly workspace: TaskWorkspace;
}

/** A file or link that a landing would change. The content of a link is its target; null stands for nothing. */
export interface LandedFile {
  /** Absolute, in the directory for which the workspace stands. */
  readonly path: string;
  readonly before: Buffer | null;
  readonly after: Buffer | null;
}

/** A conflict that prevents a landing. */
export interface LandingConflict {
  /** The path relative to the directory. */
  readonly path: string;
  readonly reason: string;
  /** The two sides of each place, for a person or a model. Empty if the file is no text. */
  readonly hunks: string;
}

/** The outcome of a landing that was carried out. */
export interface FinishedProposal {
  /** The new commit of the branch; null if there is none. */
  readonly commit: string | null;
  /** The reason why the workspace stays; null if it does not. */
  readonly kept: string | null;
  /**
   * The changed files, relative to the directory, that the commands of the acceptance criteria may have used as the task
   * left them. Empty if no commands have run.
   */
  readonly checkInputs: readonly string[];
}

/** A landing that has no conflicts and can be carried out, or the reason why there is none. */
export type LandingProposal =
  | {
      readonly ok: true;
      readonly files: readonly LandedFile[];
      /**
       * Changes the files, after the acceptance criteria of the task have passed on the merged files. Rejects with
       * MusterError if a file has changed since the proposal, or the merged files are not accepted.
       */
      land(): Promise<FinishedProposal>;
    }
  | { readonly ok: false; readonly conflicts: readonly LandingConflict[] };
