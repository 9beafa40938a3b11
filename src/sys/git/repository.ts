import { readFileSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { resolveInRoots } from '../real-path.ts';

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
      const common = textOf(join(gitDirectory, 'commondir'))?.trim();
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
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  if (stats.isDirectory()) return realPathFrom(top, '.git');
  const target = /^gitdir: (.+)\s*$/.exec(textOf(path) ?? '')?.[1];
  return target === undefined ? undefined : realPathFrom(top, target);
}

/** As the kernel goes: it follows links before `..` takes one back. */
function realPathFrom(base: string, path: string): string {
  return resolveInRoots(isAbsolute(path) ? path : `${base}/${path}`, []).real;
}

/** Undefined when there is no such file. */
export function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // Missing, a directory, or closed to this user: for git, too, it then says nothing.
    return undefined;
  }
}
