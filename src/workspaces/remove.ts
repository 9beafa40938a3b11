import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { MusterError } from '../base/errors.ts';
import { repairBranchFiles } from './branch-files.ts';
import { listInnerWorkspaces } from './inner-workspaces.ts';
import { hasUnfinishedLanding } from './landing-state.ts';
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
   * `nothing`: the removal is refused while there are changes that were not landed. `landed`: the recorded result of the
   * task has landed, and the removal is refused if there is anything else. `changes`: all changes are deleted.
   */
  readonly discard: 'nothing' | 'landed' | 'changes';
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
  requireNoLanding(record);
  if (discard !== 'changes') {
    const [inner] = listInnerWorkspaces(record);
    if (inner !== undefined) {
      throw new MusterError(
        'CONFLICT',
        `the workspace of task ${record.id} was not removed: the workspace of task ${inner} began in it; land (muster tasks apply ${inner}) or discard (muster tasks discard ${inner}) that first`,
      );
    }
    const hasLanded = discard === 'landed';
    const changes = await describeUnsavedChanges(record, { environment, signal, hasLanded });
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

/**
 * Deletes a workspace with its changes, because a person or the parent has said so. Its record stays, so that views can
 * say what has become of the changes. Throws MusterError `CONFLICT` while a landing is not finished.
 */
export async function discardWorkspace(
  record: WorkspaceRecord,
  access: WorkspaceAccess,
): Promise<void> {
  requireNoLanding(record);
  const discarded: WorkspaceRecord = { ...record, status: 'removed', isDiscarded: true };
  writeWorkspaceRecord(discarded);
  await finishRemoval(discarded, access);
}

/** The journal of a landing is the only way back for the files of the user, so nothing may delete it. */
function requireNoLanding({ id, tree }: WorkspaceRecord): void {
  if (!hasUnfinishedLanding(dirname(tree))) return;
  throw new MusterError(
    'CONFLICT',
    `the workspace of task ${id} was not removed: a landing of it is not finished; finish it (muster tasks apply ${id} --continue) or take it back (muster tasks apply ${id} --abort)`,
  );
}

/**
 * Deletes what exists of a workspace, in an order in which the directory of the workspace is the last. If the process is
 * killed meanwhile, the same call finishes the removal. Throws MusterError `CONFLICT` while a landing is not finished.
 */
export async function finishRemoval(
  record: WorkspaceRecord,
  access: WorkspaceAccess,
): Promise<void> {
  requireNoLanding(record);
  const { id, tree, git, unfinished } = record;
  const directory = dirname(tree);
  const parts = git ?? unfinished;
  await endGitProcesses(id);
  if (parts !== undefined && existsSync(parts.commonDirectory)) {
    await deleteWorktreeFiles(parts.commonDirectory, tree);
    await deleteBranch(parts, { id, ...access });
  }
  await deleteDirectory(tree);
  if (isRecordKept(record)) {
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

function isHalfRemoved(record: WorkspaceRecord): boolean {
  const directory = dirname(record.tree);
  const isLeft = ['tree', 'base', 'index'].some((name) => existsSync(join(directory, name)));
  return record.status === 'removed' && (isLeft || !isRecordKept(record));
}

/** Tells whether the record of a removed workspace is kept: for undoing a landing, or because views show it. */
function isRecordKept({ tree, isDiscarded }: WorkspaceRecord): boolean {
  return isDiscarded === true || existsSync(join(dirname(tree), 'landings'));
}
