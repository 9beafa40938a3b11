import { closeSync, constants, fstatSync, openSync, realpathSync } from 'node:fs';
import { errorMessage, systemErrorCode } from '../../base/errors.ts';
import { isInside } from '../../sys/files/paths.ts';
import { explainUntrusted, type ProjectFileReading } from '../../sys/files/project-file.ts';
import { readWithLimit } from '../../sys/files/read-at-most.ts';
import { isSecretPath } from '../../sys/files/secret-paths.ts';

/** The maximum number of bytes that a file with definitions may have. */
export const MAX_DEFINITION_BYTES = 4 * 1024 * 1024;

/** It keeps no state between two texts. A byte order mark is not part of the text. */
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** The text of a file, or the reason, in sentences, why it cannot be used. */
export type TextReading =
  | { readonly ok: true; readonly text: string; readonly bytes: number }
  | { readonly ok: false; readonly code: string; readonly reason: string };

/**
 * Reads a regular file as text: never a link, a device or a pipe, never more than 4 MB, never a binary file.
 * `path` is a real path; a link that was put there since it was resolved is refused.
 */
export function readTextFile(path: string): TextReading {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    return refused('unreadable', `Cannot be read: ${errorMessage(error)}`);
  }
  try {
    if (!fstatSync(descriptor).isFile()) return refused('not-a-file', 'Not a regular file.');
    const bytes = readWithLimit(descriptor, MAX_DEFINITION_BYTES);
    if (bytes !== undefined) return decodeUtf8(bytes);
    return refused('too-large', `Larger than ${MAX_DEFINITION_BYTES / 1024 / 1024} MB.`);
  } catch (error) {
    return refused('unreadable', `Cannot be read: ${errorMessage(error)}`);
  } finally {
    closeSync(descriptor);
  }
}

/** Decodes UTF-8 without NUL bytes. */
export function decodeUtf8(bytes: Buffer): TextReading {
  if (bytes.includes(0)) return refused('binary', 'A binary file (it holds NUL bytes).');
  try {
    return { ok: true, text: UTF8.decode(bytes), bytes: bytes.length };
  } catch {
    // The decoder throws only for invalid UTF-8.
    return refused('not-utf8', 'Not UTF-8 text. Save it as UTF-8.');
  }
}

/** Returns the text of a project file if it may be used. */
export function projectText(reading: ProjectFileReading): TextReading {
  switch (reading.kind) {
    case 'read':
      return decodeUtf8(reading.bytes);
    case 'untrusted': {
      const code = reading.verdict.state === 'new' ? 'untrusted' : 'changed';
      return refused(code, explainUntrusted(reading.verdict));
    }
    case 'refused':
      return refused(reading.code, reading.reason);
    case 'absent':
      return refused('unreadable', 'It was removed while it was being read.');
  }
}

function refused(code: string, reason: string): TextReading {
  return { ok: false, code, reason };
}

/** Reads a file that a definition refers to, with `read`, if it lies inside the boundary and is no secret file. */
export function readReferencedFile(
  path: string,
  boundary: string,
  read: (realPath: string) => TextReading = readTextFile,
): TextReading {
  try {
    const real = realpathSync.native(path);
    if (!isInside(boundary, real)) return refuse(`It lies outside of ${boundary}.`);
    return [path, real].some(isSecretPath)
      ? refuse('It is a file that usually holds secrets.')
      : read(real);
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return refuse(`It cannot be read: ${errorMessage(error)}.`);
  }
}

function refuse(reason: string): TextReading {
  return { ok: false, code: 'unreadable', reason };
}
