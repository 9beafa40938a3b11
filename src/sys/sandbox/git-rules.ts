import { lstatSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseGitConfig } from '../git/config-file.ts';
import { readGitFile } from '../git/read-git-file.ts';
import { findRepository, readGitText, type Repository } from '../git/repository.ts';
import { isInside } from '../files/paths.ts';
import { lstatIfPresent, realPathIfPresent } from '../files/path-lookup.ts';
import type { GuardedPaths, PathRule } from './plan.ts';

/** What of a repository says which programs git runs, or where it finds what says so (gitrepository-layout(5)). */
const OBEYED = ['hooks', 'config', 'config.worktree', 'info/attributes', 'commondir'];
/** Of a linked working tree, by its directory below `worktrees`. */
const OBEYED_OF_WORKTREE = ['gitdir', 'commondir', 'config.worktree'];
/** Submodules of submodules count, too. */
const MOST_MODULES = 500;
const MAX_CONFIG_BYTES = 256 * 1024;

const NOWHERE: GuardedPaths = { rules: [], missing: [] };

/**
 * The rules for a repository by its `.git`: a directory, or the file that leads to one. Commits can be
 * made, and what git would run can't be changed. The directory is held in its place, since moved away
 * it would take its hooks along.
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
 * The rules for the repository that a directory (absolute, real) belongs to, where that lies outside of the
 * directories that may be written to: above them, or where a linked working tree or a submodule keeps it.
 * It must lead back to this working tree: a `.git` file of a hostile workspace may name any repository.
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
    // Newer versions of git may write it relative to where it stands.
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

/** A repository of somebody else is not opened for writing, even where their permissions would let us. */
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

/** The directories that git keeps for linked working trees, relative. */
export function listWorktrees(directory: string): readonly string[] {
  return directoriesIn(join(directory, 'worktrees')).map((name) => join('worktrees', name));
}

/** The repositories of the submodules of a repository, whose names may have several parts. Absolute, real. */
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
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch {
    // It has none.
    return [];
  }
}
