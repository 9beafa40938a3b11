import { statSync } from 'node:fs';
import { errorMessage } from '../../base/errors.ts';
import type { ListedFiles } from './list-files.ts';

/** Returns a text that differs when a listed file has been added, removed or written. No file is opened. */
export function listingFingerprint(listed: readonly ListedFiles<unknown>[]): string {
  return listed
    .flatMap(({ files, skipped }) => [
      ...files.map(({ path, realPath }) => `${path}\0${describeFileState(realPath)}`),
      ...skipped.map(({ path, code }) => `${path}\0${code}`),
    ])
    .join('\n');
}

/** Returns a text that differs when one of these paths has been added, removed or written. */
export function pathsFingerprint(paths: readonly string[]): string {
  return paths.map((path) => `${path}\0${describeFileState(path)}`).join('\n');
}

function describeFileState(path: string): string {
  try {
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stat === undefined
      ? 'absent'
      : [stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(' ');
  } catch (error) {
    // A path that cannot be looked at counts as unchanged until it can.
    return errorMessage(error);
  }
}
