import { rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemErrorCode } from '../base/errors.ts';
import { directoryNames, lstatIfPresent } from '../sys/files/path-lookup.ts';
import { readGitText } from '../sys/git/repository.ts';

/** Returns the path of the index with the state at the start: beside the tree, where no task can write. */
export function startIndexPath(tree: string): string {
  return join(dirname(tree), 'index');
}

/**
 * Finds the git directory of a worktree: the directory in `worktrees` that points to it. The files in the worktree,
 * which a task can change, are not read. Undefined if there is none.
 */
export function findWorktreeDirectory(commonDirectory: string, tree: string): string | undefined {
  const all = join(commonDirectory, 'worktrees');
  const link = join(tree, '.git');
  return directoryNames(all)
    .map((name) => join(all, name))
    .find(
      (path) =>
        lstatIfPresent(path)?.isDirectory() === true &&
        readGitText(join(path, 'gitdir'))?.trimEnd() === link,
    );
}

/**
 * Deletes a worktree and its git directory. Git itself is not asked, because it would obey settings that a task may have
 * written there. Worktrees of others stay, and nothing happens if there is no worktree. The branch stays as well.
 */
export async function deleteWorktreeFiles(commonDirectory: string, tree: string): Promise<void> {
  await deleteDirectory(tree);
  const gitDirectory = findWorktreeDirectory(commonDirectory, tree);
  if (gitDirectory !== undefined) await deleteDirectory(gitDirectory);
  try {
    // A process that was killed here may have left it empty.
    await rmdir(join(commonDirectory, 'worktrees'));
  } catch (thrown) {
    // Other worktrees are left.
    const code = systemErrorCode(thrown);
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST' && code !== 'ENOENT') throw thrown;
  }
}

/** Deletes a directory with all of its content; nothing happens if it does not exist. */
export async function deleteDirectory(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
}
