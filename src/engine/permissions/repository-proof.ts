import { accessSync, constants, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { findUnsafeSetting } from '../../sys/git/config-check.ts';
import { resolveConfiguredPaths, readGitConfiguration } from '../../sys/git/configuration.ts';
import { readTrackedFiles } from '../../sys/git/tracked-files.ts';
import { findRepository, readGitText, type Repository } from '../../sys/git/repository.ts';
import { isInside } from '../../base/path-inside.ts';
import type { Rights } from '../../protocol/permission.ts';

/** The surroundings in which a git command would run. */
interface RepositoryPlace {
  readonly sandboxed: boolean;
  readonly rights: Pick<Rights, 'roots'>;
  readonly home: string;
}

/**
 * Returns why git may do more in this directory (absolute, real) than its words say; undefined if it does not. The
 * environment of commands switches off most of this. The filters and drivers that the repository's own configuration
 * names are harmless only in the sandbox.
 */
export function repositoryProblem(
  directory: string,
  { sandboxed, rights, home }: RepositoryPlace,
): string | undefined {
  const repository = findRepository(directory);
  if (repository === undefined) return undefined;
  if (isInside(repository.gitDirectory, directory)) {
    return 'inside a git directory another repository may lie, with a working tree anywhere';
  }
  if (!isTakenByGit(repository)) {
    return 'its `.git` is not whole, and git may go on to a repository above it';
  }
  if (isOfAnother(repository, rights.roots)) {
    return 'its `.git` leads to a repository elsewhere, which does not know this working tree';
  }
  if (mayLookElsewhere(repository, home)) {
    return 'its configuration, or what that includes, may set `core.worktree`, so that git looks at files elsewhere';
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

/** Returns true if git uses this repository and searches no further up, by gitrepository-layout(5). */
function isTakenByGit({ gitDirectory, commonDirectory }: Repository): boolean {
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
    // The directory is missing or closed to this user, and so also to git.
    return false;
  }
}

/**
 * Returns true if git might use another working tree than the one in which the repository is found. In a submodule
 * the setting leads back there. A linked working tree has only its own configuration.
 */
function mayLookElsewhere(
  { top, gitDirectory, commonDirectory }: Repository,
  home: string,
): boolean {
  const isLinked = gitDirectory !== commonDirectory;
  const names = isLinked ? ['config.worktree'] : ['config', 'config.worktree'];
  const files = names.map((name) => join(gitDirectory, name));
  const { settings, isComplete: isWhole } = readGitConfiguration(files, [home]);
  if (!isWhole) return true;
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
 * Returns true if a working tree shows the content of a repository elsewhere that does not know it. The repository of
 * a linked working tree names it in `gitdir` (gitrepository-layout(5)), which can't be forged from here.
 */
function isOfAnother(
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
