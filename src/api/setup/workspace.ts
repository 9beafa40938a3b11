import { opendirSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage, systemErrorCode, UsageError } from '../../base/errors.ts';
import { toAbsolutePath, expandHome } from '../../sys/files/paths.ts';

/**
 * Returns the real paths of the workspace roots, the working directory first. If a path is missing, is not a directory
 * or cannot be read, throws UsageError with the path and its flag.
 */
export function workspaceRoots(
  cwd: string,
  addDirs: readonly string[],
): readonly [string, ...string[]] {
  const first = resolveDirectory(expandHome(cwd), '--cwd');
  return [
    first,
    ...addDirs.map((path) => resolveDirectory(toAbsolutePath(path, first), '--add-dir')),
  ];
}

/**
 * Returns the real path of a directory. Throws UsageError as `workspaceRoots` does; `flag` is named in the message.
 */
export function resolveDirectory(path: string, flag: string): string {
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
