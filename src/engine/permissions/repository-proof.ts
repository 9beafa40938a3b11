import { accessSync, constants, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { findUnsafeSetting } from '../../sys/git/config-check.ts';
import { resolveConfiguredPaths, readGitConfiguration } from '../../sys/git/configuration.ts';
import { readTrackedFiles } from '../../sys/git/tracked-files.ts';
import { findRepository, readGitText, type Repository } from '../../sys/git/repository.ts';
import { isInside } from '../../base/path-inside.ts';
import type { Rights } from '../../protocol/permission.ts';

/** The sandbox, rights and home directory with which a git command would run. */
interface GitContext {
  readonly sandboxed: boolean;
  readonly rights: Pick<Rights, 'roots'>;
  readonly home: string;
}

/**
 * Returns why a git command may do more in this directory (absolute, real) than its text shows; undefined if it may
 * not. The environment of commands switches off most configured programs. The filters and drivers that the repository's
 * own configuration names stay active, and are harmless only in the sandbox.
 */
export function findRepositoryProblem(
  directory: string,
  { sandboxed, rights, home }: GitContext,
): string | undefined {
  const repository = findRepository(directory);
  if (repository === undefined) return undefined;
  if (isInside(repository.gitDirectory, directory)) {
    return 'inside a git directory there may be another repository, with a working tree anywhere';
  }
  if (!isAcceptedByGit(repository)) {
    return 'its `.git` is incomplete, so git may use a repository above it';
  }
  if (belongsToAnotherTree(repository, rights.roots)) {
    return 'its `.git` leads to a repository elsewhere that does not list this working tree';
  }
  if (mayUseOtherTree(repository, home)) {
    return 'its configuration, or a file that it includes, may set `core.worktree`, so that git reads files elsewhere';
  }
  if (sandboxed) return undefined;
  const setting = findUnsafeSetting(repository);
  if (setting !== undefined) {
    return `the repository sets ${JSON.stringify(setting)}, which may run a program, and there is no sandbox`;
  }
  if (readTrackedFiles(repository)?.hasSubmodules !== false) {
    return 'the repository may have submodules, whose settings git follows, and there is no sandbox';
  }
  return undefined;
}

/**
 * Returns true if git accepts this repository, and does not search the directories above; see gitrepository-layout(5).
 */
function isAcceptedByGit({ gitDirectory, commonDirectory }: Repository): boolean {
  const head = readGitText(join(gitDirectory, 'HEAD')) ?? '';
  return (
    /^(?:ref:\s*refs\/|[0-9a-f]{40})/.test(head) &&
    ['objects', 'refs'].every((name) => canBeEntered(join(commonDirectory, name)))
  );
}

function canBeEntered(directory: string): boolean {
  try {
    accessSync(directory, constants.X_OK);
    return true;
  } catch {
    // The directory is missing, or this user may not enter it, and so git can't either.
    return false;
  }
}

/**
 * Returns true if `core.worktree` might make git use another working tree than the one in which the repository was
 * found. In a submodule the setting names that same tree. For a linked working tree only `config.worktree` counts.
 */
function mayUseOtherTree(
  { top, gitDirectory, commonDirectory }: Repository,
  home: string,
): boolean {
  const isLinked = gitDirectory !== commonDirectory;
  const names = isLinked ? ['config.worktree'] : ['config', 'config.worktree'];
  const files = names.map((name) => join(gitDirectory, name));
  const { settings, isComplete } = readGitConfiguration(files, [home]);
  if (!isComplete) return true;
  const own = realPath(top);
  return settings
    .filter(({ name }) => name === 'core.worktree')
    .some(
      ({ value }) =>
        resolveConfiguredPaths(value ?? '', gitDirectory, [home])?.every((path) => path === own) !==
        true,
    );
}

/**
 * Returns true if `.git` leads to a repository outside of the roots that does not list this working tree. Such a
 * repository lists its linked working trees in `gitdir` files (gitrepository-layout(5)), which a task can't forge since
 * they are outside of its roots.
 */
function belongsToAnotherTree(
  { top, gitDirectory, commonDirectory }: Repository,
  roots: readonly string[],
): boolean {
  const own = [top, ...roots].map(realPath);
  const [git, common] = [realPath(gitDirectory), realPath(commonDirectory)];
  const isOwn = (path: string): boolean => own.some((directory) => isInside(directory, path));
  if (isOwn(git)) return !isOwn(common);
  const knownTree = readGitText(join(git, 'gitdir'))?.trim();
  return knownTree !== join(top, '.git') || !isInside(common, git);
}

function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    // The path does not exist, so git finds no repository in it.
    return path;
  }
}
