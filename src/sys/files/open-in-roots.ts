import { closeSync, constants, fstatSync, lstatSync, openSync, type BigIntStats } from 'node:fs';
import { basename, dirname } from 'node:path';
import { MusterError, systemErrorCode } from '../../base/errors.ts';
import { toFileError, describeFileType } from './file-errors.ts';
import { hasSuspiciousLinks } from './hard-links.ts';
import { holdDirectory, type HeldDirectory } from './held-directory.ts';
import { isSystemPath, findPathProblem, findRoot } from './paths.ts';
import { resolveInRoots, type PathProblem, type PathResolution } from './real-path.ts';

/** The maximum number of attempts to open a path that changes during the check. */
const MAX_ATTEMPTS = 40;
const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** The directories in which files may be opened. The context of a tool call has the same fields. */
export interface OpenScope {
  /** Absolute and real. */
  readonly roots: readonly string[];
  /**
   * The decisions about paths, by absolute path as requested. A path that leads to another file than at the time of
   * the decision is not opened.
   */
  readonly judged?: ReadonlyMap<string, JudgedPath>;
}

/** The decision about one path. The protocol defines the same type, but this module cannot import it. */
interface JudgedPath {
  readonly real: string;
  readonly mayHaveOtherNames: boolean;
}

/** An open file. */
export interface OpenFile {
  readonly fd: number;
  /** Absolute, without links. */
  readonly real: string;
  readonly stats: BigIntStats;
  /** The content that the user has not saved in an editor yet. It counts instead of that on the disk. Default: there is none. */
  readonly unsaved?: Buffer;
}

/**
 * Opens a regular file inside the roots for reading. Links are followed if they lead to a location inside the roots.
 * The file is then opened by a path without links, so that it cannot be replaced between the check and the opening.
 * A file with suspicious other names (hard links) is opened only if the decision about the path allows other names.
 * The caller closes `fd`. Throws MusterError: INVALID_PARAM, NOT_FOUND, PERMISSION_DENIED, CONFLICT.
 */
export function openFileInRoots(path: string, scope: OpenScope): OpenFile {
  return retryWhileChanging(path, () => {
    const { real, root } = requirePathInRoots(path, scope);
    requireRegular(path, lstatSync(real, { bigint: true }));
    using directory = holdDirectory(root, dirname(real));
    const file = openEntry(path, directory, real);
    requireOwnName(path, file, scope);
    return file;
  });
}

/**
 * Opens a regular file for reading like `openFileInRoots`, as an entry of a held directory (see
 * `withHeldDirectory`). This is faster for many files of one directory. `real` must be absolute, without links, and
 * lie in the directory.
 */
export function openHeldFile(directory: HeldDirectory, real: string, scope: OpenScope): OpenFile {
  try {
    const file = openEntry(real, directory, real);
    requireOwnName(real, file, scope);
    return file;
  } catch (thrown) {
    throw toFileError(real, thrown);
  }
}

function openEntry(path: string, directory: HeldDirectory, real: string): OpenFile {
  const fd = openSync(directory.at(basename(real)), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stats = fstatSync(fd, { bigint: true });
    directory.verify({ name: basename(real), stats });
    requireRegular(path, stats);
    return { fd, real, stats };
  } catch (thrown) {
    closeSync(fd);
    throw thrown;
  }
}

/**
 * Holds a directory inside the roots while `act` runs. Entries are opened through `directory.at(name)`. Throws
 * MusterError like `openFileInRoots`.
 */
export function withHeldDirectory<T>(
  path: string,
  scope: OpenScope,
  act: (directory: HeldDirectory, real: string) => T,
): T {
  return retryWhileChanging(path, () => {
    const { real, root } = requirePathInRoots(path, scope);
    requireDirectory(path, lstatSync(real, { bigint: true }));
    using directory = holdDirectory(root, real);
    const result = act(directory, real);
    directory.verify();
    return result;
  });
}

/** Repeats the attempt if a link appeared on the path after it was resolved. */
function retryWhileChanging<T>(path: string, attempt: () => T): T {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return attempt();
    } catch (thrown) {
      const code = systemErrorCode(thrown);
      const changed = code === 'ELOOP' || code === 'ENOTDIR';
      if (!changed || attempts === MAX_ATTEMPTS) throw toFileError(path, thrown);
    }
  }
}

/** Returns the real path and the root that contains it. Throws MusterError if the path is not allowed. */
export function requirePathInRoots(
  path: string,
  { roots, judged }: OpenScope,
  options: { readonly mayBeMissing?: boolean } = {},
): { readonly real: string; readonly root: string } {
  const unusable = findPathProblem(path);
  if (unusable !== undefined) throw new MusterError('INVALID_PARAM', `the path ${unusable}`);
  const resolved = resolveInRoots(path, roots);
  if (resolved.problem === 'link_loop') throw createMissingError(path, resolved);
  const decided = judged?.get(path)?.real;
  if (decided !== undefined && decided !== resolved.real) throw createChangedError(path, decided);
  const root = findRoot(resolved.real, roots);
  if (root === undefined || isSystemPath(resolved.real))
    throw createOutsideError(path, resolved, roots);
  const mayBeMissing = options.mayBeMissing === true && resolved.problem === undefined;
  if (!resolved.exists && !mayBeMissing) throw createMissingError(path, resolved);
  return { real: resolved.real, root };
}

function createChangedError(path: string, decided: string): MusterError {
  return new MusterError(
    'CONFLICT',
    `${path} led to ${decided} when it was allowed, and leads elsewhere now: nothing was opened`,
    { retryable: true },
  );
}

/** The code of the system error for each problem on the way to a path. */
const PROBLEM_CODES: Readonly<Record<PathProblem, string>> = {
  link_loop: 'ELOOP',
  not_a_directory: 'ENOTDIR',
  name_too_long: 'ENAMETOOLONG',
  unreadable: 'EACCES',
};

function createMissingError(path: string, { problem }: PathResolution): MusterError {
  const code = problem === undefined ? 'ENOENT' : PROBLEM_CODES[problem];
  return toFileError(path, Object.assign(new Error(path), { code }));
}

function createOutsideError(
  path: string,
  resolved: PathResolution,
  roots: readonly string[],
): MusterError {
  const leads = resolved.real === path ? '' : ` leads to ${resolved.real}, which`;
  return new MusterError(
    'PERMISSION_DENIED',
    `${path}${leads} is outside the workspace (${roots.join(', ')})`,
  );
}

function requireRegular(path: string, stats: BigIntStats): void {
  requireNoLink(stats);
  if (stats.isFile()) return;
  const hint = stats.isDirectory() ? ': use LS to see what is in it' : ', not a regular file';
  throw new MusterError('INVALID_PARAM', `${path} is ${describeFileType(stats)}${hint}`);
}

function requireOwnName(path: string, { fd, real, stats }: OpenFile, { judged }: OpenScope): void {
  if (judged?.get(path)?.mayHaveOtherNames === true || !hasSuspiciousLinks(real, stats)) return;
  closeSync(fd);
  throw new MusterError(
    'PERMISSION_DENIED',
    `${path} has other names (hard links), which may lie outside the workspace: only a person can allow it`,
  );
}

function requireDirectory(path: string, stats: BigIntStats): void {
  requireNoLink(stats);
  if (stats.isDirectory()) return;
  throw new MusterError('INVALID_PARAM', `${path} is ${describeFileType(stats)}, not a directory`);
}

/** Throws if a path has become a link since it was resolved. */
function requireNoLink(stats: BigIntStats): void {
  if (stats.isSymbolicLink()) throw Object.assign(new Error('a link'), { code: 'ELOOP' });
}
