import { lstatSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseGitConfig } from '../git/config-file.ts';
import { readGitFile } from '../git/read-git-file.ts';
import { findRepository, readGitText, type Repository } from '../git/repository.ts';
import { isInside } from '../../base/path-inside.ts';
import { readDirectoryEntries, lstatIfPresent, realPathIfPresent } from '../files/path-lookup.ts';
import type { GuardedPaths, PathRule } from './plan.ts';
import type { ConfinedWorktree } from './sandbox.ts';

/**
 * Files and directories of a repository that name programs for git to run, or that tell git where to find such
 * settings (gitrepository-layout(5)).
 */
const CONTROL_FILES = ['hooks', 'config', 'config.worktree', 'info/attributes', 'commondir'];
/** The same kind of files for a linked working tree, in its directory below `worktrees`. */
const WORKTREE_CONTROL_FILES = ['gitdir', 'commondir', 'config.worktree'];
/** The maximum number of submodules, including submodules of submodules. */
const MAX_MODULES = 500;
const MAX_CONFIG_BYTES = 256 * 1024;

const NO_RULES: GuardedPaths = { rules: [], missing: [] };

/**
 * Returns the rules for a repository. `path` is its `.git`: a directory, or a file with the path of a directory.
 * Commits remain possible, but settings and hooks that make git run programs cannot be changed. The directory cannot be
 * renamed either, because that would move its hooks to an unprotected path.
 */
export function gitDirectoryRules(path: string): GuardedPaths {
  const real = realPathIfPresent(path);
  if (real === undefined) return NO_RULES;
  if (lstatSync(real).isDirectory()) return repositoryRules(real, 'held');
  const repository = findRepository(dirname(real));
  const file: GuardedPaths = { rules: [{ kind: 'protected', path: real }], missing: [] };
  if (repository === undefined) return file;
  return joinRules([
    file,
    ...listGitDirectories(repository).map((each) => repositoryRules(each, 'held')),
  ]);
}

/**
 * Returns the rules for the repository of a root (absolute, without links) if its git directory lies outside the roots:
 * above them, or in another repository in the case of a linked working tree or a submodule. The git directory must
 * point back to this working tree, because the `.git` file of a hostile workspace may name any repository.
 */
export function outerRepositoryRules(root: string, roots: readonly string[]): GuardedPaths {
  const repository = findRepository(root);
  if (repository === undefined || !pointsBack(repository)) return NO_RULES;
  const outside = listGitDirectories(repository).filter(
    (path) => !roots.some((each) => isInside(each, path)) && isOwnedByUser(path),
  );
  return joinRules(outside.map((path) => repositoryRules(path, 'writable')));
}

/**
 * Returns the rules for the repository of a root in the worktree of one task. The task can add objects and move its own
 * branch. Packed objects, other branches, and everything else in the git directory are read-only. If the root belongs to
 * another repository than the recorded one, everything is read-only.
 */
export function worktreeRules(root: string, worktree: ConfinedWorktree): GuardedPaths {
  const { commonDirectory, branch } = worktree;
  const repository = findRepository(root);
  if (repository?.commonDirectory !== commonDirectory || !pointsBack(repository)) return NO_RULES;
  const { gitDirectory } = repository;
  const directory = dirname(branch);
  const writable = ['objects', join('refs/heads', directory), join('logs/refs/heads', directory)]
    .map((name) => join(commonDirectory, name))
    .concat(gitDirectory);
  const controlPaths = [
    ...['info', 'pack'].map((name) => join(commonDirectory, 'objects', name)),
    ...WORKTREE_CONTROL_FILES.map((name) => join(gitDirectory, name)),
  ];
  return guardPaths(
    writable
      .filter((path) => lstatIfPresent(path)?.isDirectory() === true && isOwnedByUser(path))
      .map((path) => ({ kind: 'writable', path })),
    controlPaths,
  );
}

/** Lists the existing git directories of a repository: its own, and the one that it shares with other working trees. */
export function listGitDirectories({
  gitDirectory,
  commonDirectory,
}: Repository): readonly string[] {
  return [...new Set([gitDirectory, commonDirectory])].filter(
    (path) => lstatIfPresent(path)?.isDirectory() === true,
  );
}

function pointsBack({ top, gitDirectory, commonDirectory }: Repository): boolean {
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
 * Tells whether the user owns a git directory. A git directory of another user is never made writable, even if its
 * permissions allow writing.
 */
function isOwnedByUser(path: string): boolean {
  const stats = lstatIfPresent(path);
  return stats !== undefined && (process.getuid === undefined || stats.uid === process.getuid());
}

function repositoryRules(directory: string, kind: 'held' | 'writable'): GuardedPaths {
  const worktrees = listWorktrees(directory);
  const controlPaths = [
    ...CONTROL_FILES,
    ...worktrees.flatMap((worktree) => WORKTREE_CONTROL_FILES.map((name) => join(worktree, name))),
  ].map((name) => join(directory, name));
  const modules = listSubmoduleRepositories(directory).map((path) => repositoryRules(path, 'held'));
  return joinRules([guardPaths([{ kind, path: directory }], controlPaths), ...modules]);
}

/** Returns rules with the protection of control paths, which may be missing. */
function guardPaths(own: readonly PathRule[], controlPaths: readonly string[]): GuardedPaths {
  const rules: PathRule[] = [...own];
  const missing: string[] = [];
  for (const path of controlPaths) {
    const real = realPathIfPresent(path);
    if (real === undefined) missing.push(path);
    else rules.push({ kind: 'protected', path: real });
  }
  return { rules, missing };
}

function joinRules(places: readonly GuardedPaths[]): GuardedPaths {
  return {
    rules: places.flatMap(({ rules }) => rules),
    missing: places.flatMap(({ missing }) => missing),
  };
}

/** Lists the directories that git keeps for linked working trees, relative to the git directory. */
export function listWorktrees(directory: string): readonly string[] {
  return listDirectories(join(directory, 'worktrees')).map((name) => join('worktrees', name));
}

/**
 * Lists the git directories of the submodules of a repository (absolute, without links). The name of a submodule may
 * consist of several directories.
 */
export function listSubmoduleRepositories(directory: string): readonly string[] {
  const modules: string[] = [];
  const waiting = [join(directory, 'modules')];
  for (
    let at = waiting.pop();
    at !== undefined && modules.length < MAX_MODULES;
    at = waiting.pop()
  ) {
    const names = listDirectories(at);
    if (names.includes('objects') && names.includes('refs')) modules.push(at);
    else waiting.push(...names.map((name) => join(at ?? '', name)));
  }
  return modules;
}

function listDirectories(path: string): readonly string[] {
  return readDirectoryEntries(path)
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}
