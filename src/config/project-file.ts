import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { listProjectDirectories } from '../sys/files/project-directories.ts';

const RELATIVE = join('.muster', 'config.toml');

/**
 * The configuration files of the project that `cwd` lies in, nearest first, up to the root of its
 * repository; outside of a repository in `cwd` itself only. The nearest that may act is the one that does.
 */
export function findConfigFiles(cwd: string): readonly string[] {
  return listProjectDirectories(resolve(cwd))
    .map((directory) => join(directory, RELATIVE))
    .filter(exists);
}

function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // What cannot be looked at (no right to enter, a link loop) is not this project's configuration.
    return false;
  }
}
