import { lstatSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseGitConfig } from '../git/config-file.ts';
import { readGitFile } from '../git/read-git-file.ts';
import { findRepository, readGitText, type Repository } from '../git/repository.ts';
import { isInside } from '../files/paths.ts';
import { readDirectoryEntries, lstatIfPresent, realPathIfPresent } from '../files/path-lookup.ts';
import type { GuardedPaths, PathRule } from './plan.ts';

/**
 * Files and directories of a repository that name programs for git to run, or that tell git where to find such
 * settings (gitrepository-layout(5)).
 */
const OBEYED = ['hooks', 'config', 'config.worktree', 'info/attributes', 'commondir'];
/** The corresponding files of a linked working tree, in its directory below `worktrees`. */
const OBEYED_OF_WORKTREE = ['gitdir', 'commondir', 'config.worktree'];
/** The limit includes submodules of submodules. */
const MOST_MODULES = 500;
const MAX_CONFIG_BYTES = 256 * 1024;

const NOWHERE: GuardedPaths = { rules: [], missing: [] };

/**
 * Returns the rules for a repository, given the path of its `.git`: a directory, or a file that points to one.
 * Commits remain possible; settings and hooks that make git run programs cannot be changed. The directory
 * cannot be renamed, because its hooks would move along.
 */
export function gitDirectoryRules(path: string): GuardedPaths {
  const real = realPathIfPresent(path);
  if (real === undefined) return NOWHERE;
  if (lstatSync(real).isDirectory()) return repositoryPlaces(real, 'held');
  const repository = findRepository(dirname(real));
  const file: GuardedPaths = { rules: [{ kind: 'protected', path: real }], missing: [] };
  if (repository === undefined) return file;
  return joined([file, ...directoriesOf(repository).map((each) => repositoryPlaces(each, 'held'))]);
}

/**
 * Returns the rules for the repository of a directory (absolute, real) if it lies outside the writable
 * directories: above them, or in the location where a linked working tree or a submodule keeps it. The
 * repository must point back to this working tree, because the `.git` file of a hostile workspace may name any
 * repository.
 */
export function outerRepositoryRules(root: string, roots: readonly string[]): GuardedPaths {
  const repository = findRepository(root);
  if (repository === undefined || !belongs(repository)) return NOWHERE;
  const outside = directoriesOf(repository).filter(
    (path) => !roots.some((each) => isInside(each, path)) && isOwn(path),
  );
  return joined(outside.map((path) => repositoryPlaces(path, 'writable')));
}

function directoriesOf({ gitDirectory, commonDirectory }: Repository): readonly string[] {
  return [...new Set([gitDirectory, commonDirectory])].filter(
    (path) => lstatIfPresent(path)?.isDirectory() === true,
  );
}

function belongs({ top, gitDirectory, commonDirectory }: Repository): boolean {
  const link = join(top, '.git');
  if (gitDirectory === link) return true;
  const [back] = readGitText(join(gitDirectory, 'gitdir'))?.split('\n') ?? [];
  if (back !== undefined) {
    const isListed = dirname(gitDirectory) === join(commonDirectory, 'worktrees');
    // Newer versions of git may write the path relative to the directory of the file.
    return (
      isListed && realPathIfPresent(resolve(gitDirectory, dirname(back))) === realPathIfPresent(top)
    );
  }
  const config = readGitFile(join(gitDirectory, 'config'), MAX_CONFIG_BYTES);
  const settings =
    config === 'missing' || config === null ? null : parseGitConfig(config.toString('utf8'));
  const tree = settings?.findLast(({ name }) => name === 'core.worktree')?.value;
  return (
    typeof tree === 'string' &&
    realPathIfPresent(join(gitDirectory, tree)) === realPathIfPresent(top)
  );
}

/**
 * Tells whether the user owns the repository. A repository of another user is never made writable, even if its
 * permissions would allow it.
 */
function isOwn(path: string): boolean {
  const stats = lstatIfPresent(path);
  return stats !== undefined && (process.getuid === undefined || stats.uid === process.getuid());
}

function repositoryPlaces(directory: string, kind: 'held' | 'writable'): GuardedPaths {
  const worktrees = listWorktrees(directory);
  const obeyed = [
    ...OBEYED,
    ...worktrees.flatMap((worktree) => OBEYED_OF_WORKTREE.map((name) => join(worktree, name))),
  ].map((name) => join(directory, name));
  const rules: PathRule[] = [{ kind, path: directory }];
  const missing: string[] = [];
  for (const path of obeyed) {
    const real = realPathIfPresent(path);
    if (real === undefined) missing.push(path);
    else rules.push({ kind: 'protected', path: real });
  }
  const modules = listSubmoduleRepositories(directory).map((path) =>
    repositoryPlaces(path, 'held'),
  );
  return joined([{ rules, missing }, ...modules]);
}

function joined(places: readonly GuardedPaths[]): GuardedPaths {
  return {
    rules: places.flatMap(({ rules }) => rules),
    missing: places.flatMap(({ missing }) => missing),
  };
}

/** Lists the directories that git keeps for linked working trees, relative to the git directory. */
export function listWorktrees(directory: string): readonly string[] {
  return directoriesIn(join(directory, 'worktrees')).map((name) => join('worktrees', name));
}

/**
 * Lists the repositories of the submodules of a repository. Submodule names may have several parts. Absolute,
 * real paths.
 */
export function listSubmoduleRepositories(directory: string): readonly string[] {
  const modules: string[] = [];
  const waiting = [join(directory, 'modules')];
  for (
    let at = waiting.pop();
    at !== undefined && modules.length < MOST_MODULES;
    at = waiting.pop()
  ) {
    const names = directoriesIn(at);
    if (names.includes('objects') && names.includes('refs')) modules.push(at);
    else waiting.push(...names.map((name) => join(at ?? '', name)));
  }
  return modules;
}

function directoriesIn(path: string): readonly string[] {
  return readDirectoryEntries(path)
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}
