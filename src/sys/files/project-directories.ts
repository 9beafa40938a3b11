import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Lists the directories of the project that contains `cwd` (absolute): `cwd` and the directories above it, up
 * to the root of its repository, which is the last. Outside a repository, only `cwd`.
 */
export function listProjectDirectories(cwd: string): readonly string[] {
  const chain: string[] = [];
  for (let directory = cwd; ; directory = dirname(directory)) {
    chain.push(directory);
    if (exists(join(directory, '.git'))) return chain;
    if (dirname(directory) === directory) return [cwd];
  }
}

/** Returns the root of the project that contains `cwd`. */
export function projectRoot(cwd: string): string {
  return listProjectDirectories(cwd).at(-1) ?? cwd;
}

/** Tells whether something exists at a path; false if it cannot be inspected. Does not throw. */
function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // The directory is closed to this user, or the link leads in a circle, so it is not a project.
    return false;
  }
}
