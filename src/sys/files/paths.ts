import { homedir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { isInside } from '../../base/path-inside.ts';
import { lazy } from '../../base/lazy.ts';

export { isInside };

/** The kernel's own limit for a whole path, in bytes. */
const MAX_PATH_BYTES = 4096;
/** What lies here is no file of a workspace, whatever the roots say. */
const SYSTEM_DIRECTORIES = ['/proc', '/sys', '/dev'];
const PLAIN_NAME = /^[ -~]*$/;
const CONTROL_CHARACTERS = lazy(() => /\p{Cc}|\p{Bidi_Control}/u);

/** The root that holds `path`, the innermost one; undefined when it is outside all of them. */
export function findRoot(path: string, roots: readonly string[]): string | undefined {
  let best: string | undefined;
  for (const root of roots) {
    if (isInside(root, path) && (best === undefined || root.length > best.length)) best = root;
  }
  return best;
}

/** What makes a path unusable as it stands, in words that follow its name; undefined: nothing. */
export function findPathProblem(path: string): string | undefined {
  if (path.trim() === '') return 'is empty';
  if (path.includes('\0')) return 'contains a NUL character';
  if (!path.isWellFormed()) return 'contains half a character (a lone surrogate)';
  if (/(^|\/)file:(\/|$)/i.test(path)) return 'is a URL: give a plain path';
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `is longer than ${MAX_PATH_BYTES} bytes`;
  return undefined;
}

/**
 * The path with the home directory in place of a leading `~`, alone or before a `/`. Nothing else is expanded:
 * `~name` is a name.
 */
export function expandHome(path: string, home: string = homedir()): string {
  if (path === '~') return home;
  return path.startsWith('~/') ? join(home, path.slice(2)) : path;
}

/** The absolute path that `path` means in `cwd`: `~` is the home directory, `..` is taken by name. */
export function toAbsolutePath(path: string, cwd: string, home?: string): string {
  return resolve(cwd, expandHome(path, home));
}

/** `/dev/null` among them: commands may write to it, and no tool has a use for it as a file. */
export function isSystemPath(path: string): boolean {
  return SYSTEM_DIRECTORIES.some((directory) => isInside(directory, path));
}

/** A path as a person reads it: relative to `cwd` where that is shorter, odd characters escaped. */
export function displayPath(path: string, cwd: string): string {
  return displayName(isInside(cwd, path) ? relative(cwd, path) || '.' : path);
}

/** A name from the disk as it stands, or quoted when it holds line ends, controls or the like. */
export function displayName(name: string): string {
  if (PLAIN_NAME.test(name)) return name;
  return CONTROL_CHARACTERS().test(name) ? JSON.stringify(name) : name;
}
