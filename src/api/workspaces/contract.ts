import type { ChangedFile, LandingConflict, LandingState } from '../../protocol/workspace.ts';
import type { UnfinishedLanding } from '../../workspaces/landing/unfinished.ts';
import type { WorkspaceRecord } from '../../workspaces/record.ts';

/**
 * The form in which changes land: `commits` merges the commits of the task into the current branch, `squash` makes one
 * commit, and `files` only changes the files, without a commit.
 */
export type LandingForm = 'commits' | 'squash' | 'files';

/** The changes of a task, merged with the present files. */
export interface LandingPreview {
  /** The changes of the task as a unified diff. */
  readonly diff: string;
  /** The number of files that a landing would change; with conflicts, the number of files that the task has changed. */
  readonly files: number;
  readonly conflicts: readonly LandingConflict[];
}

/** The changes of a task as a unified diff. Outside text. */
export interface LeftDiff {
  readonly text: string;
  /** True if the diff shows what a landing has changed in the files of the user. */
  readonly hasLanded: boolean;
}

/** The outcome of a landing, of undoing one, or of ending one whose process died. */
export type LandingOutcome =
  | {
      readonly kind: 'landed';
      readonly id: string;
      /** The changed paths. None if the files contain all changes already. */
      readonly paths: readonly string[];
      /** The paths that somebody else has changed meanwhile, and that were left as they are. */
      readonly left: readonly string[];
      /** The same in the repository: names of refs, and descriptions of entries of the index. */
      readonly leftInGit: readonly string[];
      /** The new commit of the branch; null if there is none. */
      readonly commit: string | null;
      /** The reason why the workspace stays although its changes have landed; null if it does not. */
      readonly kept: string | null;
      /** The changed paths that the commands of the check may have used as the task left them. */
      readonly checkInputs: readonly string[];
    }
  | {
      readonly kind: 'aborted';
      readonly id: string;
      /** The paths that somebody else has changed meanwhile, and that stay as they are. */
      readonly left: readonly string[];
      /** The same in the repository: names of refs, and descriptions of entries of the index. */
      readonly leftInGit: readonly string[];
      /** The directory with the earlier contents of the paths in `left`; null if there are none. Absolute. */
      readonly keptAt: string | null;
    }
  | {
      readonly kind: 'conflicts';
      readonly id: string;
      readonly conflicts: readonly LandingConflict[];
    };

/**
 * The workspaces of a data directory. Each `id` may be a unique prefix. The methods reject with MusterError: `NOT_FOUND`
 * if there is no such workspace, `CONFLICT` while its task is at work or another landing is not finished.
 */
export interface StoredWorkspaces {
  list(): readonly WorkspaceRecord[];
  /** Lists the landings whose process has died, or that are at work. */
  unfinished(): readonly UnfinishedLanding[];
  /** Returns the changes as a unified diff. */
  diff(id: string): Promise<string>;
  /** Merges the changes with the present files of the source, and writes nothing there. */
  preview(id: string): Promise<LandingPreview>;
  /**
   * Returns the changes of a task that has left some as a unified diff of at most `maxLength` UTF-16 units, also after they
   * have landed. Null if they are not known any more, or if there is no such workspace.
   */
  leftDiff(id: string, maxLength: number): Promise<LeftDiff | null>;
  /** Reads the state of the changes of a task. `id` is a full id. */
  landingState(id: string): LandingState;
  /** Merges the changes into the source, after the acceptance criteria of the task have passed on the merged files. */
  apply(id: string, form: LandingForm): Promise<LandingOutcome>;
  /** Undoes the newest landing. Later changes of the user stay. */
  undo(id: string): Promise<LandingOutcome>;
  /** Ends a landing whose process has died: in the state after it, or in the state before it. */
  recover(id: string, action: 'continue' | 'abort'): Promise<LandingOutcome>;
  /**
   * Deletes what killed processes have left of workspaces without changes, and what is kept to undo landings of tasks
   * that ended before a time (ms since the epoch). Workspaces with changes stay. Returns the ids of their tasks.
   */
  prune(endedBefore: number): Promise<{ readonly kept: readonly string[] }>;
  /** Deletes the workspace with its changes. */
  discard(id: string): Promise<{ readonly id: string; readonly files: readonly ChangedFile[] }>;
}
