import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { isInside } from '../files/paths.ts';

/** Entries that make git treat a directory as a repository and obey its `config`. */
const PARTS = ['HEAD', 'objects', 'refs'];
/** The entries of a git directory that shares the others with another worktree. */
const SHARED_PARTS = ['HEAD', 'commondir'];

/**
 * Tells whether a path (absolute, real) lies in a git directory that has another name than `.git`, or would
 * turn its directory into one: the gitdir of a worktree or submodule, or a bare repository. Git runs programs
 * that `config` and `hooks` of such a directory name. The directories from the path up to the root that
 * contains it are checked.
 */
export function isInGitDirectory(path: string, root: string): boolean {
  for (let at = dirname(path); isInside(root, at); at = dirname(at)) {
    const made = relative(at, path).split('/')[0];
    const has = (part: string): boolean => part === made || existsSync(join(at, part));
    if (PARTS.every(has) || SHARED_PARTS.every(has)) return true;
    if (at === dirname(at)) break;
  }
  return false;
}
