import { join, relative, resolve } from 'node:path';
import { isInside } from '../../base/path-inside.ts';
import { lazy } from '../../base/lazy.ts';
import { homeDirectory } from '../env.ts';

/** The kernel's limit for a path, in bytes. */
const MAX_PATH_BYTES = 4096;
/** Directories whose entries never count as files of a workspace. */
const SYSTEM_DIRECTORIES = ['/proc', '/sys', '/dev'];
const PLAIN_NAME = /^[ -~]*$/;
const controlCharacterPattern = lazy(() => /\p{Cc}|\p{Bidi_Control}/u);

/** Returns the innermost root that contains `path`; undefined if there is none. */
export function findRoot(path: string, roots: readonly string[]): string | undefined {
  let best: string | undefined;
  for (const root of roots) {
    if (isInside(root, path) && (best === undefined || root.length > best.length)) best = root;
  }
  return best;
}

/**
 * Returns the problem with a path as a predicate for a sentence about it, such as `is empty`; undefined if the path can
 * be used.
 */
export function findPathProblem(path: string): string | undefined {
  if (path.trim() === '') return 'is empty';
  if (path.includes('\0')) return 'contains a NUL character';
  if (!path.isWellFormed()) return 'contains an incomplete character (a lone surrogate)';
  if (/(^|\/)file:(\/|$)/i.test(path)) return 'is a URL: give a plain path';
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `is longer than ${MAX_PATH_BYTES} bytes`;
  return undefined;
}

/**
 * Replaces a leading `~`, alone or before a `/`, by the home directory. Nothing else is expanded: `~name` is an
 * ordinary name.
 */
export function expandHome(path: string, home: string = homeDirectory()): string {
  if (path === '~') return home;
  return path.startsWith('~/') ? join(home, path.slice(2)) : path;
}

/**
 * Makes a path absolute, relative to the working directory `cwd`. `~` is the home directory, and `..` is applied
 * without following links.
 */
export function toAbsolutePath(path: string, cwd: string, home?: string): string {
  return resolve(cwd, expandHome(path, home));
}

/**
 * Tells whether a path lies in a system directory. This includes `/dev/null`: commands may write to it, but no tool
 * needs to open it.
 */
export function isSystemPath(path: string): boolean {
  return SYSTEM_DIRECTORIES.some((directory) => isInside(directory, path));
}

/** Formats a path for people: relative to `cwd` if the path lies in `cwd`, with unusual characters escaped. */
export function displayPath(path: string, cwd: string): string {
  return displayName(isInside(cwd, path) ? relative(cwd, path) || '.' : path);
}

/** Formats a file name for people: quoted like a JSON string if it contains control or direction characters. */
export function displayName(name: string): string {
  if (PLAIN_NAME.test(name)) return name;
  return controlCharacterPattern().test(name) ? JSON.stringify(name) : name;
}
