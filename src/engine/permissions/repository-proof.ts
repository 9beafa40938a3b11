import { accessSync, constants, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { findUnsafeSetting } from '../../sys/git/config-check.ts';
import { resolveConfiguredPaths, readGitConfiguration } from '../../sys/git/configuration.ts';
import { readTrackedFiles } from '../../sys/git/tracked-files.ts';
import { findRepository, readGitText, type Repository } from '../../sys/git/repository.ts';
import { isInside } from '../../sys/files/paths.ts';
import type { Rights } from '../../protocol/permission.ts';

/** Where a git command would run, and for whom. */
interface RepositoryPlace {
  readonly sandboxed: boolean;
  readonly rights: Pick<Rights, 'roots'>;
  readonly home: string;
}

/**
 * Why git may do more in this directory (absolute, real) than its words say; undefined: nothing does. The
 * environment of commands switches off what it can. The rest, filters and drivers that the repository's own
 * configuration names, is harmless in the sandbox alone.
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

/** Whether git goes no further up: what it needs to find (gitrepository-layout(5)) is there. */
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
    // Missing, or closed to this user: for git, too, it then does not count.
    return false;
  }
}

/**
 * Whether git might take another directory for the working tree than the one that it is found in. In a
 * submodule the setting leads back there; a linked working tree goes by its own configuration alone.
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
 * Whether a working tree shows what somebody else's repository keeps. A linked one is known by it (`gitdir` of
 * gitrepository-layout(5)), which nobody can forge from here.
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
    // Nothing is there, so git finds no repository there.
    return path;
  }
}
