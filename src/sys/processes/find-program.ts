import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Returns the real path of the directory in PATH that holds a program; undefined if there is none. */
export function findProgramDirectory(name: string, path: string): string | undefined {
  return path.split(delimiter).flatMap((directory) => {
    return isProgram(join(directory, name)) ? [realpathSync(directory)] : [];
  })[0];
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // Missing, or not to be run by this user: the shell looks on in the next directory, too.
    return false;
  }
}
