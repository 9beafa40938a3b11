import { closeSync, constants, fstatSync, openSync, realpathSync } from 'node:fs';
import { errorMessage, systemErrorCode } from '../../base/errors.ts';
import { isInside } from '../../base/path-inside.ts';
import { explainUntrusted, type ProjectFileReading } from '../../sys/files/project-file.ts';
import { readWithLimit } from '../../sys/files/read-at-most.ts';
import { isSecretPath } from '../../sys/files/secret-paths.ts';

/** The maximum number of bytes of a file with definitions. */
export const MAX_DEFINITION_BYTES = 4 * 1024 * 1024;

/** The shared decoder. It keeps no state between two texts, and removes a byte order mark. */
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** The text of a file, or the reason, in sentences, why it cannot be used. */
export type TextReading =
  | { readonly ok: true; readonly text: string; readonly bytes: number }
  | { readonly ok: false; readonly code: string; readonly reason: string };

/**
 * Reads a regular file as text. Refuses links, devices, pipes, binary files, and files of more than 4 MB.
 *
 * @param path a real path; if it is a link by now, the file is refused
 */
export function readTextFile(path: string): TextReading {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    return createRefusal('unreadable', `Cannot be read: ${errorMessage(error)}`);
  }
  try {
    if (!fstatSync(descriptor).isFile()) return createRefusal('not-a-file', 'Not a regular file.');
    const bytes = readWithLimit(descriptor, MAX_DEFINITION_BYTES);
    if (bytes !== undefined) return decodeUtf8(bytes);
    return createRefusal('too-large', `Larger than ${MAX_DEFINITION_BYTES / 1024 / 1024} MB.`);
  } catch (error) {
    return createRefusal('unreadable', `Cannot be read: ${errorMessage(error)}`);
  } finally {
    closeSync(descriptor);
  }
}

/** Decodes UTF-8 text. Refuses other encodings, and NUL bytes, which mark a binary file. */
export function decodeUtf8(bytes: Buffer): TextReading {
  if (bytes.includes(0)) return createRefusal('binary', 'A binary file (it holds NUL bytes).');
  try {
    return { ok: true, text: UTF8.decode(bytes), bytes: bytes.length };
  } catch {
    // The decoder throws only for invalid UTF-8.
    return createRefusal('not-utf8', 'Not UTF-8 text. Save it as UTF-8.');
  }
}

/** Returns the text of a project file if it may be used. */
export function projectText(reading: ProjectFileReading): TextReading {
  switch (reading.kind) {
    case 'read':
      return decodeUtf8(reading.bytes);
    case 'untrusted': {
      const code = reading.verdict.state === 'new' ? 'untrusted' : 'changed';
      return createRefusal(code, explainUntrusted(reading.verdict));
    }
    case 'refused':
      return createRefusal(reading.code, reading.reason);
    case 'absent':
      return createRefusal('unreadable', 'It was removed while it was being read.');
  }
}

function createRefusal(code: string, reason: string): TextReading {
  return { ok: false, code, reason };
}

/** Reads a file that a definition refers to, if the file is inside the boundary and does not usually hold secrets. */
export function readReferencedFile(
  path: string,
  boundary: string,
  read: (realPath: string) => TextReading = readTextFile,
): TextReading {
  try {
    const real = realpathSync.native(path);
    if (!isInside(boundary, real)) return createUnreadable(`It lies outside of ${boundary}.`);
    return [path, real].some(isSecretPath)
      ? createUnreadable('It is a file that usually holds secrets.')
      : read(real);
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return createUnreadable(`It cannot be read: ${errorMessage(error)}.`);
  }
}

function createUnreadable(reason: string): TextReading {
  return { ok: false, code: 'unreadable', reason };
}
