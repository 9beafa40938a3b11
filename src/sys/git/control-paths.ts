import { join } from 'node:path';
import { isInside } from '../files/paths.ts';
import { resolveConfiguredPaths, readGitConfiguration } from './configuration.ts';
import type { Repository } from './repository.ts';

/** The names of hooks (githooks(5)). */
const HOOKS = [
  'applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg',
  'commit-msg post-commit pre-rebase post-checkout post-merge pre-push pre-receive update',
  'proc-receive post-receive post-update reference-transaction push-to-checkout pre-auto-gc',
  'post-rewrite sendemail-validate fsmonitor-watchman post-index-change',
].flatMap((names) => names.split(' '));

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
