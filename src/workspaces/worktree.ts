import { lstatSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { isInside } from '../base/path-inside.ts';
import { MusterError } from '../base/errors.ts';
import { listNamesOnOneLine } from '../base/terminal-text.ts';
import { captureTree, copyIndex } from './capture.ts';
import type { CopyLimits } from './copy-tree.ts';
import { GitError, toBytes, toPath, type GitPlace, type WorkspaceGit } from './git.ts';
import type { WorkspacePlan } from './plan.ts';
import type { WorktreeRecord } from './record.ts';
import { repeatOnContention } from './repeat-on-contention.ts';
import { deleteWorktreeFiles, findWorktreeDirectory, startIndexPath } from './worktree-files.ts';

/** Whether a worktree starts with the changes of the user that are not committed, or with the commit alone. */
export type WorktreeStart = 'uncommitted' | 'commit';

interface WorktreeOptions {
  readonly start: WorktreeStart;
  /** The limits on the changes that are not committed. */
  readonly limits: CopyLimits;
}

interface CreatedWorktree {
  readonly git: WorktreeRecord;
  /** Sentences about what is not as in the tree of the user. */
  readonly notes: readonly string[];
}

/**
 * Creates the worktree of a plan that has a repository, with its branch. It begins as the tree of the user is now, and
 * the changes that the user has not committed are not committed in it either. Nothing else in the repository changes.
 */
export async function createWorktree(
  git: WorkspaceGit,
  plan: WorkspacePlan,
  { start, limits }: WorktreeOptions,
): Promise<CreatedWorktree> {
  if (plan.git === undefined) throw new Error('the plan has no repository');
  const { repository, branch } = plan.git;
  const { commonDirectory } = repository;
  const source: GitPlace = { gitDirectory: repository.gitDirectory, workTree: plan.source };
  const [head = null, headTree = null] = await git.resolve(source, [
    'HEAD^{commit}',
    'HEAD^{tree}',
  ]);
  const takesSnapshot = start === 'uncommitted';
  const snapshot = takesSnapshot ? takeSnapshot(git, plan, source, limits) : null;
  // The snapshot is taken while git writes the files. If one of them fails, the other has ended before the error is thrown.
  const added = head === null ? null : addWorktree(git, source, plan, branch, head);
  await Promise.allSettled([added, snapshot]);
  await added;
  const state = (await snapshot) ?? (await emptyState(git, source, headTree));
  const base =
    head !== null && state.tree === headTree
      ? head
      : await commitTree(git, source, {
          tree: state.tree,
          parents: head === null ? [] : [head],
          message: `State of the working tree when Muster task ${plan.id} began`,
        });
  if (head === null) await addUnbornWorktree(git, source, plan, branch, base);
  const gitDirectory = findWorktreeDirectory(commonDirectory, plan.tree);
  if (gitDirectory === undefined) {
    throw new MusterError('INTERNAL_ERROR', `git has created no worktree in ${plan.tree}`);
  }
  const place: GitPlace = { gitDirectory, workTree: plan.tree };
  const index = startIndexPath(plan.tree);
  copyIndex(join(gitDirectory, 'index'), index);
  if (base !== head) {
    await writeStart(git, place, { index, head, base });
    if (state.indexTree !== null && state.indexTree !== headTree) {
      const trees = head === null ? [state.indexTree] : [head, state.indexTree];
      await git.run(place, ['read-tree', '-i', '-m', ...trees]);
    }
    // Git keeps the objects of this commit as long as the worktree has a log of a ref with it.
    await git.run(place, [
      'update-ref',
      '--create-reflog',
      '-m',
      'start',
      'refs/worktree/base',
      base,
    ]);
  }
  return { git: { commonDirectory, gitDirectory, branch, head, base }, notes: state.notes };
}

/** Writes the files in which two commits differ, and leaves the index with the state of the second one in `index`. */
async function writeStart(
  git: WorkspaceGit,
  place: GitPlace,
  {
    index,
    head,
    base,
  }: { readonly index: string; readonly head: string | null; readonly base: string },
): Promise<void> {
  const trees = head === null ? [base] : [head, base];
  await git.run({ ...place, index }, ['read-tree', '-m', '-u', ...trees]);
}

/** The state of the tree of the user. */
interface SourceState {
  readonly tree: string;
  /** The tree in the index of the user; null if the index has conflicts. */
  readonly indexTree: string | null;
  readonly notes: readonly string[];
}

async function emptyState(
  git: WorkspaceGit,
  source: GitPlace,
  headTree: string | null,
): Promise<SourceState> {
  const tree = headTree ?? (await git.line(source, ['mktree']));
  return { tree, indexTree: null, notes: [] };
}

/** Stores the files of the user, committed or not, as a tree. Works on a copy of the index. */
async function takeSnapshot(
  git: WorkspaceGit,
  plan: WorkspacePlan,
  source: GitPlace,
  limits: CopyLimits,
): Promise<SourceState> {
  const index = join(plan.directory, 'snapshot-index');
  copyIndex(join(source.gitDirectory, 'index'), index);
  const place: GitPlace = { ...source, index };
  const notes: string[] = [];
  try {
    const indexTree = await writeIndexTree(git, place);
    const { tree } = await captureTree(git, place, {
      indexTree,
      select: async (changed) => {
        const filtered = await findFilteredPaths(git, source, changed);
        if (filtered.size > 0) notes.push(describeFiltered(filtered));
        const isData = createDataTest(plan);
        const selected = changed.filter((path) => !filtered.has(path) && !isData(path));
        checkSize(source.workTree, selected, limits);
        return selected;
      },
    });
    return { tree, indexTree, notes };
  } finally {
    await rm(index, { force: true });
  }
}

/** Returns a function that tells whether a path (latin1) of the source is in the data directory, which has logs. */
function createDataTest({ source, dataDir }: WorkspacePlan): (path: string) => boolean {
  if (!isInside(source, dataDir)) return () => false;
  const prefix = `${toBytes(relative(source, dataDir))}/`;
  return (path) => path.startsWith(prefix);
}

/** Returns the tree of an index; null if the index has conflicts, of which git can make no tree. */
async function writeIndexTree(git: WorkspaceGit, place: GitPlace): Promise<string | null> {
  try {
    return await git.line(place, ['write-tree']);
  } catch (thrown) {
    if (thrown instanceof GitError && /unmerged/.test(thrown.output)) return null;
    throw thrown;
  }
}

/** Finds the paths (latin1) whose content a configured filter manages, such as files of Git LFS. */
export async function findFilteredPaths(
  git: WorkspaceGit,
  place: GitPlace,
  paths: readonly string[],
): Promise<ReadonlySet<string>> {
  if (git.filters.size === 0 || paths.length === 0) return new Set();
  const input = paths.map((path) => `${path}\0`).join('');
  const output = await git.list(place, ['check-attr', '-z', '--stdin', 'filter'], { input });
  const found = new Set<string>();
  for (let at = 0; at + 2 < output.length; at += 3) {
    const [path = '', , value = ''] = output.slice(at, at + 3);
    if (git.filters.has(toPath(value) ?? '')) found.add(path);
  }
  return found;
}

function describeFiltered(paths: ReadonlySet<string>): string {
  const names = listNamesOnOneLine(
    [...paths].map((path) => toPath(path) ?? path),
    5,
  );
  return `files that a filter of git manages are as they were committed, without your changes: ${names}`;
}

/** Throws MusterError if the files are too many or too large to be stored in the repository. */
function checkSize(top: string, paths: readonly string[], { files, bytes }: CopyLimits): void {
  let total = 0;
  for (const path of paths) {
    // The name may not be UTF-8.
    const full = Buffer.concat([Buffer.from(`${top}/`), Buffer.from(path, 'latin1')]);
    total += lstatSync(full, { throwIfNoEntry: false })?.size ?? 0;
  }
  if (paths.length <= files && total <= bytes) return;
  const limit = paths.length > files ? `${files} files` : `${bytes} bytes`;
  throw new MusterError(
    'LIMIT_EXCEEDED',
    `the changes in ${top} that are not committed are more than ${limit}, which is the limit for the workspace of a task; commit or ignore files, or let the task start from the last commit`,
  );
}

/** Creates the branch and the worktree. Repeats it if other processes change the repository at the same moment. */
async function addWorktree(
  git: WorkspaceGit,
  source: GitPlace,
  { tree, id, git: parts }: WorkspacePlan,
  branch: string,
  head: string,
): Promise<void> {
  const common = parts?.repository.commonDirectory ?? '';
  const reason = `muster: task ${id}`;
  const ref = `refs/heads/${branch}`;
  await repeatOnContention(() => git.run(source, ['update-ref', '-m', reason, ref, head]));
  await repeatOnContention(async (attempt) => {
    if (attempt > 0) await deleteWorktreeFiles(common, tree);
    await git.run(source, ['worktree', 'add', '--quiet', tree, branch]);
  });
}

/** Creates a worktree in a repository without a commit. Its branch has no commit either. */
async function addUnbornWorktree(
  git: WorkspaceGit,
  source: GitPlace,
  plan: WorkspacePlan,
  branch: string,
  base: string,
): Promise<void> {
  await repeatOnContention(() =>
    git.run(source, ['worktree', 'add', '--quiet', '--detach', '--no-checkout', plan.tree, base]),
  );
  const gitDirectory = findWorktreeDirectory(plan.git?.repository.commonDirectory ?? '', plan.tree);
  if (gitDirectory === undefined) return;
  const place = { gitDirectory, workTree: plan.tree };
  await git.run(place, ['symbolic-ref', 'HEAD', `refs/heads/${branch}`]);
}

/** The content of a commit. */
interface NewCommit {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
}

/** Stores a commit without moving any branch. Returns its id. */
export async function commitTree(
  git: WorkspaceGit,
  place: GitPlace,
  { tree, parents, message }: NewCommit,
): Promise<string> {
  const args = parents.flatMap((parent) => ['-p', parent]);
  return await git.line(place, ['commit-tree', tree, ...args, '-F', '-'], {
    input: Buffer.from(message),
  });
}
