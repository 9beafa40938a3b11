import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * The directories of the project that `cwd` (absolute) lies in: itself and those above it, up to the
 * root of its repository, which is the last; outside of a repository itself alone.
 */
export function listProjectDirectories(cwd: string): readonly string[] {
  const chain: string[] = [];
  for (let directory = cwd; ; directory = dirname(directory)) {
    chain.push(directory);
    if (exists(join(directory, '.git'))) return chain;
    if (dirname(directory) === directory) return [cwd];
  }
}

/** Where the project begins that `cwd` lies in. */
export function projectRoot(cwd: string): string {
  return listProjectDirectories(cwd).at(-1) ?? cwd;
}

/** Whether something is there; what cannot be looked at counts as not there. Costs no error. */
function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // No right to enter, or a link in a circle: nobody's project.
    return false;
  }
}
