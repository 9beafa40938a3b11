import { opendirSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage, systemErrorCode, UsageError } from '../../base/errors.ts';
import { toAbsolutePath, expandHome } from '../../sys/files/paths.ts';

/**
 * Returns the real paths of the directories of a run, the working directory first. Throws UsageError for one that is
 * missing, no directory or not readable, with its name and its flag.
 */
export function workspaceRoots(
  cwd: string,
  addDirs: readonly string[],
): readonly [string, ...string[]] {
  const first = realDirectory(expandHome(cwd), '--cwd');
  return [first, ...addDirs.map((path) => realDirectory(toAbsolutePath(path, first), '--add-dir'))];
}

/**
 * Returns the real path of a directory. Throws UsageError as `workspaceRoots` does, with the name of `flag`.
 */
export function realDirectory(path: string, flag: string): string {
  try {
    const real = realpathSync.native(path);
    if (statSync(real).isDirectory()) {
      // Check that the directory can be listed and entered, as the tools will do.
      opendirSync(real).closeSync();
      statSync(join(real, '.'));
      return real;
    }
  } catch (thrown) {
    if (systemErrorCode(thrown) === 'ENOENT')
      throw new UsageError(`${flag} ${path}: no such directory`);
    throw new UsageError(`${flag} ${path}: can't be opened (${errorMessage(thrown)})`);
  }
  throw new UsageError(`${flag} ${path}: is not a directory`);
}
