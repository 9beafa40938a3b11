import { statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const RELATIVE = join('.muster', 'config.toml');

/**
 * The configuration file of the project that `cwd` lies in: in the nearest directory that has one, up
 * to the root of its repository; outside of a repository in `cwd` itself only.
 */
export function findProjectFile(cwd: string): string | undefined {
  const start = resolve(cwd);
  let nearest: string | undefined;
  for (let directory = start; ; directory = dirname(directory)) {
    const file = join(directory, RELATIVE);
    if (nearest === undefined && exists(file)) nearest = file;
    if (exists(join(directory, '.git'))) return nearest;
    if (directory === dirname(directory)) break;
  }
  return nearest === join(start, RELATIVE) ? nearest : undefined;
}

function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // What cannot be looked at (no right to enter, a link loop) is not this project's configuration.
    return false;
  }
}
