import { dirname, join } from 'node:path';
import { statIfPresent } from './path-lookup.ts';

/**
 * Lists the directories of the project that contains `cwd` (absolute): `cwd` and the directories above it, up
 * to the root of its repository, which is the last. Outside a repository, only `cwd`.
 */
export function listProjectDirectories(cwd: string): readonly string[] {
  const chain: string[] = [];
  for (let directory = cwd; ; directory = dirname(directory)) {
    chain.push(directory);
    if (statIfPresent(join(directory, '.git')) !== undefined) return chain;
    if (dirname(directory) === directory) return [cwd];
  }
}

/** Returns the root of the project that contains `cwd`. */
export function projectRoot(cwd: string): string {
  return listProjectDirectories(cwd).at(-1) ?? cwd;
}
