import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { atScopeEnd } from '../../base/at-scope-end.ts';
import { systemErrorCode } from '../../base/errors.ts';
import { readWithLimit } from '../files/read-at-most.ts';

/**
 * Reads a file that git would read. Returns `missing` if the file does not exist. Returns null if it is not a regular
 * file (reading a pipe could block), not readable for this user, a circular link, or larger than `maxBytes`.
 */
export function readGitFile(path: string, maxBytes: number): Buffer | 'missing' | null {
  try {
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    using _close = atScopeEnd(() => closeSync(descriptor));
    return fstatSync(descriptor).isFile() ? (readWithLimit(descriptor, maxBytes) ?? null) : null;
  } catch (thrown) {
    const code = systemErrorCode(thrown);
    if (code === undefined) throw thrown;
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'missing' : null;
  }
}
