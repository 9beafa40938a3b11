import { closeSync, constants, fstatSync, lstatSync, openSync, type BigIntStats } from 'node:fs';
import { basename, dirname } from 'node:path';
import { MusterError, systemErrorCode } from '../base/errors.ts';
import { fileError, fileKind } from './file-errors.ts';
import { holdDirectory, type HeldDirectory } from './held-directory.ts';
import { isSystemPath, pathProblem, rootOf } from './paths.ts';
import { resolveInRoots, type ResolvedPath } from './real-path.ts';

/** How often a way that changes under us is walked again before we give up. */
const MAX_ATTEMPTS = 40;
const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

export interface OpenFile {
  readonly fd: number;
  /** Absolute, without links. */
  readonly real: string;
  readonly stats: BigIntStats;
}

/**
 * Open a regular file inside the roots for reading. Links are followed as long as they lead to a
 * place inside; what is opened is reached without any link, so that nothing can be slipped in between
 * the check and the opening. The caller closes `fd`. Throws MusterError: INVALID_PARAM, NOT_FOUND,
 * PERMISSION_DENIED.
 */
export function openFileInRoots(path: string, roots: readonly string[]): OpenFile {
  return untilSteady(path, () => {
    const { real, root } = placeInRoots(path, roots);
    requireRegular(path, lstatSync(real, { bigint: true }));
    const directory = holdDirectory(root, dirname(real));
    try {
      return openEntry(path, directory, real);
    } finally {
      directory.close();
    }
  });
}

function openEntry(path: string, directory: HeldDirectory, real: string): OpenFile {
  const fd = openSync(directory.at(basename(real)), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    directory.verify();
    const stats = fstatSync(fd, { bigint: true });
    requireRegular(path, stats);
    return { fd, real, stats };
  } catch (thrown) {
    closeSync(fd);
    throw thrown;
  }
}

/**
 * Do something in a directory inside the roots that is held while `act` runs; its entries are reached
 * through `directory.at(name)`. Throws MusterError as `openFileInRoots` does.
 */
export function inDirectory<T>(
  path: string,
  roots: readonly string[],
  act: (directory: HeldDirectory, real: string) => T,
): T {
  return untilSteady(path, () => {
    const { real, root } = placeInRoots(path, roots);
    requireDirectory(path, lstatSync(real, { bigint: true }));
    const directory = holdDirectory(root, real);
    try {
      const result = act(directory, real);
      directory.verify();
      return result;
    } finally {
      directory.close();
    }
  });
}

/** A link that turned up on the way after it was resolved: resolve and judge it again. */
function untilSteady<T>(path: string, attempt: () => T): T {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return attempt();
    } catch (thrown) {
      const code = systemErrorCode(thrown);
      const changed = code === 'ELOOP' || code === 'ENOTDIR';
      if (!changed || attempts === MAX_ATTEMPTS) throw fileError(path, thrown);
    }
  }
}

/** The real path and the root that holds it. Throws what is wrong with it. */
export function placeInRoots(
  path: string,
  roots: readonly string[],
  options: { readonly mayBeMissing?: boolean } = {},
): { readonly real: string; readonly root: string } {
  const unusable = pathProblem(path);
  if (unusable !== undefined) throw new MusterError('INVALID_PARAM', `the path ${unusable}`);
  const resolved = resolveInRoots(path, roots);
  if (resolved.problem === 'link_loop') {
    throw new MusterError('INVALID_PARAM', `${path} is a link that leads in a circle`);
  }
  const root = rootOf(resolved.real, roots);
  if (root === undefined || isSystemPath(resolved.real)) throw outside(path, resolved, roots);
  const mayBeMissing = options.mayBeMissing === true && resolved.problem === undefined;
  if (!resolved.exists && !mayBeMissing) {
    throw fileError(path, Object.assign(new Error(path), { code: missingCode(resolved) }));
  }
  return { real: resolved.real, root };
}

function missingCode(resolved: ResolvedPath): string {
  switch (resolved.problem) {
    case 'not_a_directory':
      return 'ENOTDIR';
    case 'name_too_long':
      return 'ENAMETOOLONG';
    case 'unreadable':
      return 'EACCES';
    default:
      return 'ENOENT';
  }
}

function outside(path: string, resolved: ResolvedPath, roots: readonly string[]): MusterError {
  const leads = resolved.real === path ? '' : ` leads to ${resolved.real}, which`;
  return new MusterError(
    'PERMISSION_DENIED',
    `${path}${leads} is outside the workspace (${roots.join(', ')})`,
  );
}

function requireRegular(path: string, stats: BigIntStats): void {
  requireSteady(stats);
  if (stats.isFile()) return;
  const hint = stats.isDirectory() ? ': use LS to see what is in it' : ', not a regular file';
  throw new MusterError('INVALID_PARAM', `${path} is ${fileKind(stats)}${hint}`);
}

function requireDirectory(path: string, stats: BigIntStats): void {
  requireSteady(stats);
  if (stats.isDirectory()) return;
  throw new MusterError('INVALID_PARAM', `${path} is ${fileKind(stats)}, not a directory`);
}

/** What was resolved is no link, unless it has become one since. */
function requireSteady(stats: BigIntStats): void {
  if (stats.isSymbolicLink()) throw Object.assign(new Error('a link'), { code: 'ELOOP' });
}
