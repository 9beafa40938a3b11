import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { systemErrorCode } from '../../base/errors.ts';
import { readWithLimit } from '../files/read-at-most.ts';

/**
 * The content of a file that git would read. Null: it is there and can't be told, being no regular file
 * (a pipe must not be waited for), closed to this user, a link in a circle, or larger than `maxBytes`.
 */
export function readGitFile(path: string, maxBytes: number): Buffer | 'missing' | null {
  try {
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      return fstatSync(descriptor).isFile() ? (readWithLimit(descriptor, maxBytes) ?? null) : null;
    } finally {
      closeSync(descriptor);
    }
  } catch (thrown) {
    const code = systemErrorCode(thrown);
    if (code === undefined) throw thrown;
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'missing' : null;
  }
}
