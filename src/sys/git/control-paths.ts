import { join } from 'node:path';
import { isInside } from '../files/paths.ts';
import { resolveConfiguredPaths, readGitConfiguration } from './configuration.ts';
import type { Repository } from './repository.ts';

/** githooks(5). */
const HOOKS = [
  'applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg',
  'commit-msg post-commit pre-rebase post-checkout post-merge pre-push pre-receive update',
  'proc-receive post-receive post-update reference-transaction push-to-checkout pre-auto-gc',
  'post-rewrite sendemail-validate fsmonitor-watchman post-index-change',
].flatMap((names) => names.split(' '));

/** What git obeys beside a git directory, because the configuration in that one says so. Absolute, real. */
export interface GitControlPaths {
  /** With programs that git runs (`core.hooksPath`). */
  readonly hookDirectories: readonly string[];
  /** Single hooks, and configuration files that are included. */
  readonly files: readonly string[];
}

/** Of a directory of hooks in which a whole root lies only the hooks count. `homes`: what `~` may mean. */
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
