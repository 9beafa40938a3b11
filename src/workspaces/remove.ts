import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { MusterError } from '../base/errors.ts';
import { repairBranchFiles } from './branch-files.ts';
import { endGitProcesses, WorkspaceGit, type GitOpenOptions, type GitPlace } from './git.ts';
import {
  isDamagedWorkspace,
  listWorkspaces,
  writeWorkspaceRecord,
  type DamagedWorkspace,
  type WorkspaceRecord,
  type WorktreeRecord,
} from './record.ts';
import { repeatOnContention } from './repeat-on-contention.ts';
import { describeUnsavedChanges } from './unsaved-changes.ts';
import { deleteDirectory, deleteWorktreeFiles, startIndexPath } from './worktree-files.ts';
import type { WorkspaceAccess } from './worktree-state.ts';

/** How a workspace is removed. */
export interface RemoveOptions extends WorkspaceAccess {
  /**
   * `nothing`: the workspace is refused while it holds changes that were not landed. `changes`: these changes are
   * deleted with it, because the user has said so.
   */
  readonly discard: 'nothing' | 'changes';
}

/**
 * Removes a workspace: the tree and, in a repository, the worktree and its branch. Finished landings are kept for undo,
 * together with the record. If the process is killed meanwhile, the same call finishes the removal. Throws MusterError
 * `CONFLICT` if there are changes that must not be discarded.
 */
export async function removeWorkspace(
  record: WorkspaceRecord,
  { discard, environment, signal }: RemoveOptions,
): Promise<void> {
  if (discard === 'nothing' && record.status !== 'removed') {
    const changes = await describeUnsavedChanges(record, { environment, signal });
    if (changes !== null) {
      throw new MusterError(
        'CONFLICT',
        `the workspace of task ${record.id} was not removed: ${changes}; land them (muster tasks apply ${record.id}) or discard them (muster tasks discard ${record.id})`,
      );
    }
  }
  writeWorkspaceRecord({ ...record, status: 'removed' });
  await finishRemoval(record, { environment, signal });
}

/** Deletes what exists of a workspace, in an order in which the directory of the workspace is the last. */
export async function finishRemoval(
  { id, tree, git, unfinished }: WorkspaceRecord,
  access: WorkspaceAccess,
): Promise<void> {
  const directory = dirname(tree);
  const parts = git ?? unfinished;
  await endGitProcesses(id);
  if (parts !== undefined && existsSync(parts.commonDirectory)) {
    await deleteWorktreeFiles(parts.commonDirectory, tree);
    await deleteBranch(parts, { id, ...access });
  }
  await deleteDirectory(tree);
  if (existsSync(join(directory, 'landings'))) {
    await deleteDirectory(join(directory, 'base'));
    await rm(startIndexPath(tree), { force: true });
  } else {
    await deleteDirectory(directory);
  }
}

/** Deletes a branch and its log. Other refs and the configuration stay as they are. */
async function deleteBranch(
  { commonDirectory, branch }: Pick<WorktreeRecord, 'commonDirectory' | 'branch'>,
  options: GitOpenOptions,
): Promise<void> {
  await repairBranchFiles(commonDirectory, branch);
  const place: GitPlace = { gitDirectory: commonDirectory, workTree: commonDirectory };
  const git = await WorkspaceGit.open(place, options);
  await repeatOnContention(() =>
    git.run(place, ['update-ref', '--no-deref', '-d', `refs/heads/${branch}`]),
  );
}

/** A workspace that no task will finish by itself. */
export interface AbandonedWorkspace {
  readonly workspace: WorkspaceRecord | DamagedWorkspace;
  /**
   * `creating`: the process ended while it was created, and nothing is in it. `removing`: the process ended while it was
   * removed. `damaged`: its record cannot be used. `open`: the process ended before the work of the task was saved.
   */
  readonly state: 'creating' | 'removing' | 'damaged' | 'open';
}

/**
 * Finds the workspaces that processes have left behind. `isActive` tells whether a process works on the task with this
 * id at the moment.
 */
export function findAbandonedWorkspaces(
  dataDir: string,
  isActive: (id: string) => boolean,
): readonly AbandonedWorkspace[] {
  return listWorkspaces(dataDir).flatMap((workspace): AbandonedWorkspace[] => {
    if (isDamagedWorkspace(workspace)) return [{ workspace, state: 'damaged' }];
    if (isActive(workspace.id)) return [];
    if (workspace.status === 'creating') return [{ workspace, state: 'creating' }];
    if (workspace.status === 'ready') return [{ workspace, state: 'open' }];
    return isHalfRemoved(workspace) ? [{ workspace, state: 'removing' }] : [];
  });
}

function isHalfRemoved({ status, tree }: WorkspaceRecord): boolean {
  const directory = dirname(tree);
  const isLeft = (name: string): boolean => existsSync(join(directory, name));
  return status === 'removed' && (!isLeft('landings') || isLeft('index') || isLeft('base'));
}
