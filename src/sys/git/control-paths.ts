import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { listNames } from '../../base/text.ts';
import { isInside } from '../../base/path-inside.ts';
import { resolveConfiguredPaths, readGitConfiguration } from './configuration.ts';
import type { Repository } from './repository.ts';

/** The names of hooks (githooks(5)). */
const HOOKS = listNames(`
  applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg
  commit-msg post-commit pre-rebase post-checkout post-merge pre-push pre-receive update
  proc-receive post-receive post-update reference-transaction push-to-checkout pre-auto-gc
  post-rewrite sendemail-validate fsmonitor-watchman post-index-change
`);

/**
 * Files outside a git directory that control git, because the configuration in that directory names them. All paths
 * are absolute, without links.
 */
export interface GitControlPaths {
  /** Directories with programs that git runs (`core.hooksPath`). */
  readonly hookDirectories: readonly string[];
  /** Single hooks, and included configuration files. */
  readonly files: readonly string[];
}

/**
 * Finds the files outside a git directory that control git. If a hook directory contains a root, only the files in it
 * with the names of hooks are returned, and not the directory. `homes` are the directories that `~` may mean.
 */
export function findGitControlPaths(
  { top, gitDirectory, commonDirectory }: Repository,
  { homes, roots }: { readonly homes: readonly string[]; readonly roots: readonly string[] },
): GitControlPaths {
  const { settings, included } = readGitConfiguration(
    [
      join(commonDirectory, 'config'),
      join(commonDirectory, 'config.worktree'),
      join(gitDirectory, 'config.worktree'),
    ],
    homes,
  );
  const directories = settings
    .filter(({ name, value }) => name === 'core.hookspath' && value !== null && value !== '')
    .flatMap(({ value }) => resolveConfiguredPaths(value ?? '', top, homes) ?? []);
  const holdsRoot = (path: string): boolean => roots.some((root) => isInside(path, root));
  return {
    hookDirectories: directories.filter((path) => !holdsRoot(path)),
    files: [
      ...included,
      ...directories.filter(holdsRoot).flatMap((path) => HOOKS.map((name) => join(path, name))),
    ],
  };
}

/** If a directory has these entries, git treats it as a repository and obeys its `config`. */
const REPOSITORY_ENTRIES = ['HEAD', 'objects', 'refs'];
/** The entries of the git directory of a linked worktree, which shares all other entries with its repository. */
const WORKTREE_ENTRIES = ['HEAD', 'commondir'];

/**
 * Tells whether a path (absolute, without links) lies in a git directory that is not called `.git`, or whether
 * creating the path would turn a directory into a git directory. Such directories are bare repositories and the git
 * directories of worktrees and submodules. Git runs programs that their `config` and `hooks` name. All directories
 * from the path up to the root are checked.
 */
export function isInGitDirectory(path: string, root: string): boolean {
  for (let at = dirname(path); isInside(root, at); at = dirname(at)) {
    const created = relative(at, path).split('/')[0];
    const has = (part: string): boolean => part === created || existsSync(join(at, part));
    if (REPOSITORY_ENTRIES.every(has) || WORKTREE_ENTRIES.every(has)) return true;
    if (at === dirname(at)) break;
  }
  return false;
}
