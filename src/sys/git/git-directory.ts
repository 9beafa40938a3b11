import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { isInside } from '../files/paths.ts';

/** What git needs to find in a directory to take it for a repository and obey its `config`. */
const PARTS = ['HEAD', 'objects', 'refs'];
/** In the place of the last two where a worktree shares them. */
const SHARED_PARTS = ['HEAD', 'commondir'];

/**
 * Whether a path (absolute, real) lies in a git directory under another name than `.git`, or would
 * make its directory one: the gitdir of a worktree or submodule, a bare repository. Git runs what
 * `config` and `hooks` of such a directory say. Looked for from the path up to the root that holds it.
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
