import { dirname, isAbsolute, join } from 'node:path';
import { statIfPresent } from '../files/path-lookup.ts';
import { resolveInRoots } from '../files/real-path.ts';
import { readGitFile } from './read-git-file.ts';

/** The maximum size of a file that contains the path of a directory. */
const MAX_POINTER_BYTES = 8192;

/** A repository as git finds it from a directory. All paths are absolute. */
export interface Repository {
  /** The working tree. */
  readonly top: string;
  /** The directory of the index: `.git`, or the one of a linked working tree. Real. */
  readonly gitDirectory: string;
  /** The directory of the configuration. Real. It differs from `gitDirectory` only in a linked working tree. */
  readonly commonDirectory: string;
}

/** Finds the repository of a directory (absolute, real) or of its nearest parent that has one. */
export function findRepository(directory: string): Repository | undefined {
  for (let top = directory; ; top = dirname(top)) {
    const gitDirectory = gitDirectoryOf(top);
    if (gitDirectory !== undefined) {
      const common = readGitText(join(gitDirectory, 'commondir'))?.trim();
      const commonDirectory =
        common === undefined ? gitDirectory : realPathFrom(gitDirectory, common);
      return { top, gitDirectory, commonDirectory };
    }
    if (top === dirname(top)) return undefined;
  }
}

/** Returns `.git`, or the directory that a file of this name points to. */
function gitDirectoryOf(top: string): string | undefined {
  const path = join(top, '.git');
  const stats = statIfPresent(path);
  if (stats === undefined) return undefined;
  if (stats.isDirectory()) return realPathFrom(top, '.git');
  const target = /^gitdir: (.+)\s*$/.exec(readGitText(path) ?? '')?.[1];
  return target === undefined ? undefined : realPathFrom(top, target);
}

/** Resolves a path as the kernel does: links are followed before `..` is applied. */
function realPathFrom(base: string, path: string): string {
  return resolveInRoots(isAbsolute(path) ? path : `${base}/${path}`, []).real;
}

/** Reads a small text file; undefined if it does not exist, and also if git could not read it. */
export function readGitText(path: string): string | undefined {
  const content = readGitFile(path, MAX_POINTER_BYTES);
  return content === 'missing' ? undefined : content?.toString('utf8');
}
