import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { isInside } from '../../base/path-inside.ts';

/**
 * System directories for programs. They are searched before PATH, which may name a directory of the workspace.
 */
const SYSTEM_DIRECTORIES = ['/usr/bin', '/bin', '/usr/local/bin', '/run/current-system/sw/bin'];

/** Finds the path of a program outside the `untrusted` directories, which are those that commands can write to. */
export function findTrustedProgram(
  name: string,
  path: string,
  untrusted: readonly string[],
): string | undefined {
  return [...SYSTEM_DIRECTORIES, ...path.split(delimiter).filter((entry) => isAbsolute(entry))]
    .map((directory) => join(directory, name))
    .find(
      (file) => isExecutable(file) && !untrusted.some((root) => isInside(root, realpathSync(file))),
    );
}

/** Returns the real path of the first directory in PATH that contains a program; undefined if there is none. */
export function findProgramDirectory(name: string, path: string): string | undefined {
  return path.split(delimiter).flatMap((directory) => {
    return isExecutable(join(directory, name)) ? [realpathSync(directory)] : [];
  })[0];
}

/** Tells whether a path is a file that this user may run. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // The program is missing or this user may not run it, so the search continues, as in a shell.
    return false;
  }
}
