import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { atScopeEnd } from '../base/at-scope-end.ts';
import { MusterError } from '../base/errors.ts';
import { holdDirectory } from '../sys/files/held-directory.ts';
import { lstatIfPresent, readDirectoryNames } from '../sys/files/path-lookup.ts';
import { readWithLimit } from '../sys/files/read-at-most.ts';
import { isSameState, type PathDifference, type PathState } from './difference.ts';

/** The maximum total size of the contents of changed files, in bytes. */
export const MAX_DIFFERENCE_BYTES = 256 * 1024 * 1024;

/** The number of files that are read before other work may go on. */
const FILES_AT_ONCE = 64;

/** Returns the error for changes that are too large to be compared. */
export function tooManyChanges(tree: string): MusterError {
  return new MusterError(
    'LIMIT_EXCEEDED',
    `the files that the task has changed in ${tree} have more than ${MAX_DIFFERENCE_BYTES} bytes, which is the limit for landing; take them from there yourself`,
  );
}

/**
 * Lists the paths in which two directories differ, in the order of their names. Paths in `leaveOut`, git directories
 * and special files are skipped. Links are compared and not followed. Throws MusterError `LIMIT_EXCEEDED` if the
 * contents are too large.
 */
export async function compareDirectories(
  base: string,
  tree: string,
  leaveOut: readonly string[],
): Promise<readonly PathDifference[]> {
  const differences: PathDifference[] = [];
  const skipped = new Set(leaveOut);
  let bytes = 0;
  let compared = 0;
  const waiting = [''];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const directory = at;
    const names = [base, tree].flatMap((top) => readDirectoryNames(join(top, directory)) ?? []);
    for (const name of new Set(names)) {
      const path = directory === '' ? name : `${directory}/${name}`;
      if (name === '.git' || skipped.has(path)) continue;
      const isDirectory = [base, tree].some(
        (top) => lstatIfPresent(join(top, path))?.isDirectory() === true,
      );
      if (isDirectory) waiting.push(path);
      compared += 1;
      if (compared % FILES_AT_ONCE === 0) await setImmediate();
      // Contents are compared, and not times: a program may have put the old time back.
      const before = readState(base, path);
      const after = readState(tree, path);
      if (isSameState(before, after)) continue;
      bytes += sizeOf(before) + sizeOf(after);
      if (bytes > MAX_DIFFERENCE_BYTES) throw tooManyChanges(tree);
      differences.push({ path, before, after });
    }
  }
  return differences.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

function sizeOf(state: PathState): number {
  return state?.kind === 'file' ? state.bytes.length : 0;
}

/**
 * Reads what stands at a path below a directory, without following a link. Returns null for nothing, a directory and a
 * special file.
 */
function readState(top: string, path: string): PathState {
  if (lstatIfPresent(join(top, path)) === undefined) return null;
  using parent = holdDirectory(top, dirname(join(top, path)));
  const at = parent.at(basename(path));
  const stats = lstatSync(at);
  if (stats.isSymbolicLink()) return { kind: 'link', target: readlinkSync(at) };
  if (!stats.isFile()) return null;
  const fd = openSync(at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  using _close = atScopeEnd(() => closeSync(fd));
  const opened = fstatSync(fd);
  if (!opened.isFile()) return null;
  const bytes = readWithLimit(fd, MAX_DIFFERENCE_BYTES);
  if (bytes === undefined) throw tooManyChanges(top);
  return { kind: 'file', executable: (opened.mode & 0o100) !== 0, bytes };
}
