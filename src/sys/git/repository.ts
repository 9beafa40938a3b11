import { dirname, isAbsolute, join } from 'node:path';
import { statIfPresent } from '../files/path-lookup.ts';
import { resolveInRoots } from '../files/real-path.ts';
import { readGitFile } from './read-git-file.ts';

/** The maximum size of a file such as `.git` or `commondir` that contains the path of a directory, in bytes. */
const MAX_POINTER_BYTES = 8192;

/** A repository with its directories. All paths are absolute. */
export interface Repository {
  /** The working tree. */
  readonly top: string;
  /** The directory with the index: `.git`, or the git directory of a linked working tree. Without links. */
  readonly gitDirectory: string;
  /**
   * The directory with the configuration, without links. It differs from `gitDirectory` only in a linked working tree.
   */
  readonly commonDirectory: string;
}

/** Finds the repository that contains a directory (absolute, without links); undefined if there is none. */
export function findRepository(directory: string): Repository | undefined {
  for (let top = directory; ; top = dirname(top)) {
    const gitDirectory = findGitDirectory(top);
    if (gitDirectory !== undefined) {
      const common = readGitText(join(gitDirectory, 'commondir'))?.trim();
      const commonDirectory =
        common === undefined ? gitDirectory : realPathFrom(gitDirectory, common);
      return { top, gitDirectory, commonDirectory };
    }
    if (top === dirname(top)) return undefined;
  }
}

/** Returns the real path of `.git`. If `.git` is a file, returns the path of the directory that the file names. */
function findGitDirectory(top: string): string | undefined {
  const path = join(top, '.git');
  const stats = statIfPresent(path);
  if (stats === undefined) return undefined;
  if (stats.isDirectory()) return realPathFrom(top, '.git');
  const target = /^gitdir: (.+)\s*$/.exec(readGitText(path) ?? '')?.[1];
  return target === undefined ? undefined : realPathFrom(top, target);
}

/** Resolves a path like the kernel: links are followed before `..` is applied. */
function realPathFrom(base: string, path: string): string {
  return resolveInRoots(isAbsolute(path) ? path : `${base}/${path}`, []).real;
}

/** Reads a small text file; undefined if the file does not exist or git could not read it. */
export function readGitText(path: string): string | undefined {
  const content = readGitFile(path, MAX_POINTER_BYTES);
  return content === 'missing' ? undefined : content?.toString('utf8');
}
