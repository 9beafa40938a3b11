import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { listNames } from '../../base/text.ts';
import { isInside } from '../files/paths.ts';
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
 * Files outside a git directory that control git, because the configuration in that directory names them.
 * Absolute, real.
 */
export interface GitControlPaths {
  /** Directories with programs that git runs (`core.hooksPath`). */
  readonly hookDirectories: readonly string[];
  /** Single hooks, and included configuration files. */
  readonly files: readonly string[];
}

/**
 * Finds these files. If a hook directory contains a root, only the hooks in it count. `homes`: possible
 * meanings of `~`.
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

/** Entries that make git treat a directory as a repository and obey its `config`. */
const PARTS = ['HEAD', 'objects', 'refs'];
/** The entries of a git directory that shares the others with another worktree. */
const SHARED_PARTS = ['HEAD', 'commondir'];

/**
 * Tells whether a path (absolute, real) lies in a git directory that has another name than `.git`, or would
 * turn its directory into one: the gitdir of a worktree or submodule, or a bare repository. Git runs programs
 * that `config` and `hooks` of such a directory name. The directories from the path up to the root that
 * contains it are checked.
 */
export function isInGitDirectory(path: string, root: string): boolean {
  for (let at = dirname(path); isInside(root, at); at = dirname(at)) {
    const made = relative(at, path).split('/')[0];
    const has = (part: string): boolean => part === made || existsSync(join(at, part));
    if (PARTS.every(has) || SHARED_PARTS.every(has)) return true;
    if (at === dirname(at)) break;
  }
  return false;
}
