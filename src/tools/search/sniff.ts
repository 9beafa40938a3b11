import { closeSync, readSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { MusterError } from '../../base/errors.ts';
import { inDirectory, openHeldFile } from '../../sys/open-in-roots.ts';
import { decodeText, firstNul, isUtf32 } from './decode-text.ts';
import {
  BINARY_SAMPLE_BYTES,
  MAX_SEARCHED_BYTES,
  placeFound,
  type SearchScope,
} from './search-types.ts';

/** Whether a file of the scope, by its path in it, is binary; false for what cannot be opened. */
export function isBinaryFile(path: string, scope: SearchScope): boolean {
  const sample = firstBytes(path, scope, BINARY_SAMPLE_BYTES);
  return sample !== undefined && firstNul(sample) !== undefined && !isUtf32(sample);
}

/** The text of a scope that is a single file in UTF-32, by its byte order mark; undefined for any other scope. */
export function readUtf32(scope: SearchScope): string | undefined {
  if (scope.file === undefined) return undefined;
  const start = firstBytes(scope.file, scope, 4);
  if (start === undefined || !isUtf32(start)) return undefined;
  const bytes = firstBytes(scope.file, scope, MAX_SEARCHED_BYTES);
  return bytes === undefined ? undefined : decodeText(bytes);
}

function firstBytes(path: string, scope: SearchScope, count: number): Buffer | undefined {
  const whole = join(scope.directory, path);
  const place = placeFound(scope, whole);
  try {
    return inDirectory(dirname(whole), { roots: scope.roots }, (held) => {
      const { fd, stats } = openHeldFile(held, whole, place);
      try {
        const bytes = Buffer.alloc(Math.min(count, Number(stats.size)));
        return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, 0));
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
