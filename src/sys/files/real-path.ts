import { lstatSync, readlinkSync, realpathSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { systemErrorCode } from '../../base/errors.ts';
import { findRoot } from './paths.ts';

/** The maximum number of links that are followed. The kernel has the same limit. */
const MAX_LINKS = 40;

/** The reason why a path could not be followed to its end. */
export type PathProblem = 'link_loop' | 'not_a_directory' | 'name_too_long' | 'unreadable';

/** A path with its links resolved. */
export interface PathResolution {
  /** Absolute, with links resolved as far as the path exists. The names that do not exist are appended unchanged. */
  readonly real: string;
  /** True if `real` is a root or lies below a root. */
  readonly inside: boolean;
  readonly exists: boolean;
  readonly problem?: PathProblem;
}

type Followed = Omit<PathResolution, 'inside'>;

/**
 * Resolves the links in an absolute path, and tells whether the result lies inside the roots (absolute real paths).
 * The path need not exist; a link without a target resolves to the path of its target. Changes nothing on disk. The
 * result may be outdated when a file is opened, so files are opened with `openFileInRoots`.
 */
export function resolveInRoots(path: string, roots: readonly string[]): PathResolution {
  const followed = realPath(path) ?? followLinks(path);
  const inside = followed.problem !== 'link_loop' && findRoot(followed.real, roots) !== undefined;
  return { ...followed, inside };
}

/** Resolves an existing path in one call; undefined if each name has to be checked separately. */
function realPath(path: string): Followed | undefined {
  // On other systems `realpath` may return another spelling of a name, for example in another case.
  if (process.platform !== 'linux' || !path.startsWith('/')) return undefined;
  try {
    return { real: realpathSync.native(path), exists: true };
  } catch {
    // `followLinks` will find the name that is missing or wrong.
    return undefined;
  }
}

function followLinks(path: string): Followed {
  const pending = path.split('/').toReversed();
  let real = '/';
  let isDirectory = true;
  let links = 0;
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (name === '') continue;
    if (name === '.' || name === '..') {
      if (!isDirectory) return { real, exists: false, problem: 'not_a_directory' };
      if (name === '..') real = dirname(real);
      continue;
    }
    // `join` is not needed for one name below a real path.
    const next = real === '/' ? `/${name}` : `${real}/${name}`;
    const found = inspect(next);
    if (typeof found === 'string') {
      const rest = pending.toReversed();
      const missing: Followed = { real: join(next, ...rest), exists: false };
      return found === 'missing' ? missing : { ...missing, problem: found };
    }
    if (!found.isSymbolicLink()) {
      real = next;
      isDirectory = found.isDirectory();
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) return { real: path, exists: false, problem: 'link_loop' };
    const target = readLink(next);
    if (target.startsWith('/')) real = '/';
    isDirectory = true;
    pending.push(...target.split('/').toReversed());
  }
  return { real, exists: true };
}

function inspect(path: string): Stats | 'missing' | PathProblem {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    return found ?? 'missing';
  } catch (thrown) {
    switch (systemErrorCode(thrown)) {
      case 'ENOTDIR':
        return 'not_a_directory';
      case 'ENAMETOOLONG':
        return 'name_too_long';
      default:
        return 'unreadable';
    }
  }
}

/** Returns the target of a link, or the path of the link itself if the link no longer exists. */
function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return path;
  }
}

/** Resolves the links in a path. The path need not exist. */
export function toRealPath(path: string): string {
  return resolveInRoots(path, []).real;
}
