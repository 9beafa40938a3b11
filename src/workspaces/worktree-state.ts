import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { newId } from '../base/ids.ts';
import type { Environment } from '../sys/env.ts';
import { captureTree, copyIndex, holdsEntries, type CapturedTree } from './capture.ts';
import { toPath, WorkspaceGit, type GitPlace } from './git.ts';
import type { WorkspaceRecord, WorktreeRecord } from './record.ts';
import { SUBMODULE_MODE } from './tree-changes.ts';
import { startIndexPath } from './worktree-files.ts';

/** The access to an existing workspace. */
export interface WorkspaceAccess {
  /** The variables of the user. */
  readonly environment: Environment;
  readonly signal: AbortSignal;
}

/** A worktree with git prepared for it. The git directory of the worktree, which a task can write, is not used. */
export class OpenWorktree {
  readonly record: WorkspaceRecord;
  readonly parts: WorktreeRecord;
  readonly git: WorkspaceGit;
  /** The shared git directory with the tree of the task. */
  readonly place: GitPlace;

  private constructor(
    record: WorkspaceRecord,
    parts: WorktreeRecord,
    git: WorkspaceGit,
    place: GitPlace,
  ) {
    this.record = record;
    this.parts = parts;
    this.git = git;
    this.place = place;
  }

  /** Prepares git. Throws MusterError if git is missing or the repository does not exist any more. */
  static async open(
    record: WorkspaceRecord,
    parts: WorktreeRecord,
    { environment, signal }: WorkspaceAccess,
  ): Promise<OpenWorktree> {
    const workTree = existsSync(record.tree) ? record.tree : record.source;
    const place = { gitDirectory: parts.commonDirectory, workTree };
    const git = await WorkspaceGit.open(place, { id: record.id, environment, signal });
    return new OpenWorktree(record, parts, git, place);
  }

  /** The full name of the branch of the task. */
  get ref(): string {
    return `refs/heads/${this.parts.branch}`;
  }

  /** Whether the files of the task still exist. */
  get hasTree(): boolean {
    return this.place.workTree === this.record.tree;
  }

  /**
   * Stores the files as they are now as a tree of git, and calls `use` with it and with the path of an index that has
   * these files. The index is deleted afterwards unless `use` has moved it. The submodules in whose directories the task
   * has put something count as repositories that git cannot store.
   */
  async capture<T>(use: (captured: CapturedTree, index: string) => Promise<T>): Promise<T> {
    const index = join(dirname(this.record.tree), `index-${newId()}`);
    const place = { ...this.place, index };
    try {
      copyIndex(startIndexPath(this.record.tree), index);
      if (!existsSync(index)) await this.git.run(place, ['read-tree', this.parts.base]);
      const captured = await captureTree(this.git, place, {
        leaveOut: this.record.links,
        alsoIgnored: await this.#listCommittedPaths(),
      });
      const nested = [...captured.nested, ...(await this.#listFilledSubmodules(captured.tree))];
      return await use({ ...captured, nested }, index);
    } finally {
      await rm(index, { force: true });
    }
  }

  /** Lists the paths (latin1) that the task has changed in commits. Some of them may be ignored, by `git add --force`. */
  async #listCommittedPaths(): Promise<readonly string[]> {
    const [tip = null] = await this.git.resolve(this.place, [`${this.ref}^{commit}`]);
    if (tip === null || tip === this.parts.head) return [];
    const args = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', this.parts.base, tip];
    return await this.git.list(this.place, args);
  }

  /** Lists the submodules whose directories are not empty. Git lists nothing that is in them. */
  async #listFilledSubmodules(tree: string): Promise<readonly string[]> {
    const entries = await this.git.list(this.place, ['ls-tree', '-r', '-z', tree]);
    return entries
      .filter((entry) => entry.startsWith(SUBMODULE_MODE))
      .flatMap((entry) => toPath(entry.slice(entry.indexOf('\t') + 1)) ?? [])
      .filter((path) => holdsEntries(this.place.workTree, path));
  }
}
