import { realpathSync } from 'node:fs';
import { errorMessage, systemErrorCode } from '../../base/errors.ts';
import { isInside } from '../../sys/files/paths.ts';
import { isSecretPath } from '../../sys/files/secret-paths.ts';
import { readTextFile, type TextReading } from './read-text.ts';

/** Reads a file that a definition refers to, with `read`, if it lies inside the boundary and is no secret file. */
export function readReferencedFile(
  path: string,
  boundary: string,
  read: (realPath: string) => TextReading = readTextFile,
): TextReading {
  try {
    const real = realpathSync.native(path);
    if (!isInside(boundary, real)) return refused(`It lies outside of ${boundary}.`);
    return [path, real].some(isSecretPath)
      ? refused('It is a file that usually holds secrets.')
      : read(real);
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return refused(`It cannot be read: ${errorMessage(error)}.`);
  }
}

function refused(reason: string): TextReading {
  return { ok: false, code: 'unreadable', reason };
}
