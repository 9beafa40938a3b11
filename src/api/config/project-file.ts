import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { projectDirectories } from '../../sys/project-directories.ts';

const RELATIVE = join('.muster', 'config.toml');

/**
 * The configuration file of the project that `cwd` lies in: in the nearest directory that has one, up
 * to the root of its repository; outside of a repository in `cwd` itself only.
 */
export function findProjectFile(cwd: string): string | undefined {
  return projectDirectories(resolve(cwd))
    .map((directory) => join(directory, RELATIVE))
    .find(exists);
}

function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // What cannot be looked at (no right to enter, a link loop) is not this project's configuration.
    return false;
  }
}
