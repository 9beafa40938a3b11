import { dirname, join } from 'node:path';
import { statIfPresent } from './path-lookup.ts';

/**
 * Lists the directories of the project from `cwd` (absolute) upwards. The last is the root of the repository.
 * Outside a repository, lists only `cwd`.
 */
export function listProjectDirectories(cwd: string): readonly string[] {
  const directories: string[] = [];
  for (let directory = cwd; ; directory = dirname(directory)) {
    directories.push(directory);
    if (statIfPresent(join(directory, '.git')) !== undefined) return directories;
    if (dirname(directory) === directory) return [cwd];
  }
}

/** Returns the root of the project that contains `cwd`. */
export function projectRoot(cwd: string): string {
  return listProjectDirectories(cwd).at(-1) ?? cwd;
}
