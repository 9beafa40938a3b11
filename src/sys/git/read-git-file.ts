import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { atScopeEnd } from '../../base/at-scope-end.ts';
import { systemErrorCode } from '../../base/errors.ts';
import { readWithLimit } from '../files/read-at-most.ts';

/**
 * Reads a file that git would read. Returns null if it exists but is not a regular file (reading a pipe could
 * block), is not readable for this user, is a link in a circle, or is larger than `maxBytes`.
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
