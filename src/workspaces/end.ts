import { existsSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { lstatIfPresent } from '../sys/files/path-lookup.ts';
import { MusterError } from '../base/errors.ts';
import type { ChangedFile } from '../protocol/workspace.ts';
import { titleOf } from '../base/title.ts';
import { sanitizeLine } from '../base/terminal-text.ts';
import { repairBranchFiles } from './branch-files.ts';
import { hasChangedSince } from './changed-since.ts';
import { compareDirectories } from './compare-copies.ts';
import type { PathDifference } from './difference.ts';
import { countChangedLines } from './format-diff.ts';
import { toPath } from './git.ts';
import { listInnerWorkspaces } from './inner-workspaces.ts';
import { listIgnoredWork } from './ignored-work.ts';
import { writeWorkspaceRecord, type WorkspaceRecord, type WorktreeRecord } from './record.ts';
import { removeWorkspace } from './remove.ts';
import { repeatOnContention } from './repeat-on-contention.ts';
import { listTreeChanges, type TreeChange } from './tree-changes.ts';
import { OpenWorktree, type WorkspaceAccess } from './worktree-state.ts';
import { commitTree } from './worktree.ts';

/** The work that a task has left in its workspace. */
export interface WorkspaceEnd {
  /** The workspace as it is now: with the status `removed` if nothing was changed. */
  readonly record: WorkspaceRecord;
  /** False if the workspace was removed. It stays without changes while workspaces of other tasks began in it. */
  readonly isChanged: boolean;
  readonly files: readonly ChangedFile[];
  /** The number of commits that the task has made itself. */
  readonly commits: number;
  /** The commit of everything that the task left; null if nothing was changed, and in a copy. */
  readonly commit: string | null;
  /**
   * Repositories that the task has created in the tree, and submodules in which it has put something. Git cannot commit
   * what is in them, and it is not landed.
   */
  readonly nested: readonly string[];
  /** Files and directories of the task that git ignores. They are not committed or landed either. */
  readonly ignored: readonly string[];
}

/** The end of a task that has changed nothing. */
const UNCHANGED = {
  isChanged: false,
  files: [],
  commits: 0,
  commit: null,
  nested: [],
  ignored: [],
} as const;

/** The maximum number of commits of a task that are counted. */
const MAX_COMMITS = 10_000;

/**
 * Ends the work in a workspace. What the task has not committed is committed to its branch, wherever the task has moved
 * HEAD. A workspace without changes is removed. May be called again after the task has continued.
 */
export async function endWorkspace(
  record: WorkspaceRecord,
  access: WorkspaceAccess,
): Promise<WorkspaceEnd> {
  if (record.git === undefined) return await endCopy(record, access);
  return await endWorktree(record, record.git, access);
}

async function endWorktree(
  record: WorkspaceRecord,
  parts: WorktreeRecord,
  access: WorkspaceAccess,
): Promise<WorkspaceEnd> {
  const worktree = await OpenWorktree.open(record, parts, access);
  if (!worktree.hasTree) {
    throw new MusterError(
      'NOT_FOUND',
      `the files of task ${record.id} in ${record.tree} do not exist any more`,
    );
  }
  const { git, place, ref } = worktree;
  return await worktree.capture(async ({ tree, nested }, index) => {
    const ignored = await listIgnoredWork(git, { ...place, index }, record);
    const names = [`${parts.base}^{tree}`, `${ref}^{commit}`, `${ref}^{tree}`];
    const [baseTree = null, branchTip = null, tipTree = null] = await git.resolve(place, names);
    const tip = branchTip ?? parts.head;
    // After the first end, the commit that it made must not count as one of the task.
    const { result } = record;
    const isSame = tip !== null && tip === result?.commit;
    const commits = isSame ? (result?.commits ?? 0) : await countCommits(worktree, tip);
    const isEmpty = commits === 0 && nested.length === 0 && ignored.length === 0;
    if (tree === baseTree && isEmpty && listInnerWorkspaces(record).length === 0) {
      await removeWorkspace(record, { ...access, discard: 'changes' });
      const removed: WorkspaceRecord = { ...record, status: 'removed' };
      return { ...UNCHANGED, record: removed };
    }
    // The changes that the user had not committed are a commit of their own, so that the next one has only the task's.
    const parent = tip === parts.head ? parts.base : tip;
    const isCommitted = tip !== null && tree === tipTree;
    const commit = isCommitted
      ? tip
      : await commitTree(git, place, {
          tree,
          parents: parent === null ? [] : [parent],
          message: formatMessage(record),
        });
    if (commit !== branchTip) {
      const reason = ['--create-reflog', '-m', 'muster: end of the task'];
      await repairBranchFiles(parts.commonDirectory, parts.branch);
      await repeatOnContention(() =>
        git.run(place, ['update-ref', '--no-deref', ...reason, ref, commit]),
      );
    }
    replaceIndex(parts.gitDirectory, index);
    const ended: WorkspaceRecord = {
      ...record,
      status: 'ended',
      // A landing counts only if it began after the end of the task, so the same end keeps its time.
      result: {
        commit,
        commits,
        endedAt: result?.commit === commit ? result.endedAt : new Date().toISOString(),
      },
    };
    writeWorkspaceRecord(ended);
    const files = await listTreeChanges(git, place, parts.base, commit);
    return {
      record: ended,
      isChanged: true,
      files: [
        ...files.map(toChangedFile),
        ...nested.map((path) => describeNotLanded(path, 'nested')),
        ...ignored.map((path) => describeNotLanded(path, 'ignored')),
      ],
      commits,
      commit,
      nested,
      ignored,
    };
  });
}

async function countCommits(
  { git, place, parts }: OpenWorktree,
  tip: string | null,
): Promise<number> {
  if (tip === null || tip === parts.head) return 0;
  const range = [tip, '--not', ...(parts.head === null ? [] : [parts.head]), parts.base];
  const args = ['rev-list', '--count', `--max-count=${MAX_COMMITS}`, ...range];
  return Number(await git.line(place, args));
}

/** Lets `git status` in the kept worktree compare with the new commit. */
function replaceIndex(gitDirectory: string, index: string): void {
  const isDirectory = lstatIfPresent(gitDirectory)?.isDirectory() === true;
  if (isDirectory && !existsSync(join(gitDirectory, 'index.lock')))
    renameSync(index, join(gitDirectory, 'index'));
}

function formatMessage({ id, description }: WorkspaceRecord): string {
  const title = sanitizeLine(titleOf(description));
  return `${title === '' ? 'Work of a task' : title}\n\nMuster task ${id}\n`;
}

const STATUS_BY_LETTER: Readonly<Record<string, ChangedFile['status']>> = {
  A: 'added',
  D: 'deleted',
  R: 'renamed',
};

function toChangedFile({ letter, path, from, added, deleted }: TreeChange): ChangedFile {
  return {
    path: toPath(path) ?? path,
    ...(from === undefined ? {} : { from: toPath(from) ?? from }),
    status: STATUS_BY_LETTER[letter] ?? 'modified',
    added,
    deleted,
  };
}

function describeNotLanded(
  path: string,
  notLanded: NonNullable<ChangedFile['notLanded']>,
): ChangedFile {
  return { path, status: 'added', added: null, deleted: null, notLanded };
}

async function endCopy(record: WorkspaceRecord, access: WorkspaceAccess): Promise<WorkspaceEnd> {
  const base = join(dirname(record.tree), 'base');
  const differences = await compareDirectories(base, record.tree, record.links);
  if (differences.length === 0 && listInnerWorkspaces(record).length === 0) {
    await removeWorkspace(record, { ...access, discard: 'changes' });
    return { ...UNCHANGED, record: { ...record, status: 'removed' } };
  }
  const { result } = record;
  const isSame =
    result !== undefined && !hasChangedSince(record.tree, result.endedAt, record.links);
  const ended: WorkspaceRecord = {
    ...record,
    status: 'ended',
    result: isSame ? result : { commit: null, endedAt: new Date().toISOString() },
  };
  writeWorkspaceRecord(ended);
  const files = differences.map(describeDifference);
  return { ...UNCHANGED, record: ended, isChanged: true, files };
}

function describeDifference(difference: PathDifference): ChangedFile {
  const { path, before, after } = difference;
  const status = before === null ? 'added' : after === null ? 'deleted' : 'modified';
  return { path, status, ...(countChangedLines(difference) ?? { added: null, deleted: null }) };
}
