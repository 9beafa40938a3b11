import { statSync, type Stats } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { systemErrorCode } from '../../base/errors.ts';
import { resolveInRoots } from '../files/real-path.ts';
import { readGitFile } from './read-git-file.ts';

/** Of a file that points to a directory: a path. */
const MAX_POINTER_BYTES = 8192;

/** A repository as git finds it from a directory. All absolute. */
export interface Repository {
  /** The working tree. */
  readonly top: string;
  /** Where its index lies: `.git`, or that of a linked working tree. Real. */
  readonly gitDirectory: string;
  /** Where its configuration lies. Real; another one than `gitDirectory` in a linked working tree alone. */
  readonly commonDirectory: string;
}

/** The repository of a directory (absolute, real) or of the nearest one above it that has one. */
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

/** `.git`, or the directory that a file of this name points to. */
function gitDirectoryOf(top: string): string | undefined {
  const path = join(top, '.git');
  const stats = look(path);
  if (stats === undefined) return undefined;
  if (stats.isDirectory()) return realPathFrom(top, '.git');
  const target = /^gitdir: (.+)\s*$/.exec(readGitText(path) ?? '')?.[1];
  return target === undefined ? undefined : realPathFrom(top, target);
}

/** Undefined where nothing can be: missing, below a file, or on a way that leads in a circle. */
function look(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (thrown) {
    if (systemErrorCode(thrown) === undefined) throw thrown;
    return undefined;
  }
}

/** As the kernel goes: it follows links before `..` takes one back. */
function realPathFrom(base: string, path: string): string {
  return resolveInRoots(isAbsolute(path) ? path : `${base}/${path}`, []).real;
}

/** Undefined when there is no such file, or none that git could read: then it says nothing. */
export function readGitText(path: string): string | undefined {
  const content = readGitFile(path, MAX_POINTER_BYTES);
  return content === 'missing' ? undefined : content?.toString('utf8');
}
