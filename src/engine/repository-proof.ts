import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { unsafeSetting } from '../sys/git/config-check.ts';
import { trackedFiles } from '../sys/git/index-names.ts';
import { findRepository, textOf, type Repository } from '../sys/git/repository.ts';
import { isInside } from '../sys/paths.ts';
import type { Rights } from '../protocol/permission.ts';

/**
 * Why git may do more in this directory (absolute, real) than its words say; undefined: nothing does. The
 * environment of commands switches off what it can. The rest, filters and drivers that the repository's own
 * configuration names, is harmless in the sandbox alone.
 */
export function repositoryProblem(
  directory: string,
  { sandboxed, rights }: { readonly sandboxed: boolean; readonly rights: Pick<Rights, 'roots'> },
): string | undefined {
  const repository = findRepository(directory);
  if (repository === undefined) return undefined;
  if (isOfAnother(repository, rights.roots)) {
    return 'its `.git` leads to a repository elsewhere, which does not know this working tree';
  }
  if (sandboxed) return undefined;
  const setting = unsafeSetting(repository);
  if (setting !== undefined) {
    return `the repository sets ${JSON.stringify(setting)}, which may run a program, and there is no sandbox`;
  }
  if (trackedFiles(repository)?.hasSubmodules !== false) {
    return 'the repository may have submodules, whose settings git follows, and there is no sandbox';
  }
  return undefined;
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
  const knownTree = textOf(join(git, 'gitdir'))?.trim();
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
