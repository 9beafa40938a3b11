import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { listProjectDirectories } from '../sys/files/project-directories.ts';

const RELATIVE = join('.muster', 'config.toml');

/**
 * Returns the configuration files of the project of `cwd`, nearest first, up to the root of its repository, or of
 * `cwd` alone outside of a repository. Only the nearest one that is trusted has an effect.
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
