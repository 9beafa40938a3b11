import { closeSync, readSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { MusterError } from '../../base/errors.ts';
import { inDirectory, openHeldFile } from '../../sys/open-in-roots.ts';
import { firstNul, isUtf32 } from './decode-text.ts';
import { BINARY_SAMPLE_BYTES, placeFound, type SearchScope } from './search-types.ts';

/** Whether a file of the scope, by its path in it, is binary; false for what cannot be opened. */
export function isBinaryFile(path: string, scope: SearchScope): boolean {
  const sample = firstBytes(path, scope, BINARY_SAMPLE_BYTES);
  return sample !== undefined && firstNul(sample) !== undefined && !isUtf32(sample);
}

/** Whether the scope is a single file whose byte order mark says that it is UTF-32. */
export function isNamedUtf32(scope: SearchScope): boolean {
  const start = scope.file === undefined ? undefined : firstBytes(scope.file, scope, 4);
  return start !== undefined && isUtf32(start);
}

function firstBytes(path: string, scope: SearchScope, count: number): Buffer | undefined {
  const whole = join(scope.directory, path);
  const place = placeFound(scope, whole);
  try {
    return inDirectory(dirname(whole), { roots: scope.roots }, (held) => {
      const { fd } = openHeldFile(held, whole, place);
      try {
        const bytes = Buffer.alloc(count);
        return bytes.subarray(0, readSync(fd, bytes, 0, count, 0));
      } finally {
        closeSync(fd);
      }
    });
  } catch (thrown) {
    // Closed to this user, or gone: the search itself says so.
    if (thrown instanceof MusterError) return undefined;
    throw thrown;
  }
}
