import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { isInside } from '../files/paths.ts';

/** Where systems put programs: looked at before PATH, which may name a directory of the workspace. */
const SYSTEM_DIRECTORIES = ['/usr/bin', '/bin', '/usr/local/bin', '/run/current-system/sw/bin'];

/** A program's path; never one that lies in `untrusted`, where the commands themselves can write. */
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

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // Not there or not ours to run: the search goes on.
    return false;
  }
}
