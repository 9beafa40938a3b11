import { link, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import {
  errorMessage,
  MusterError,
  systemErrorCode,
  type ErrorCode,
} from '../../../../base/errors.ts';
import { newId } from '../../../../base/ids.ts';
import { byteLength } from '../../../../base/text.ts';

const FILE_MODE = 0o600;

/**
 * Writes a file that only its user reads, whole or not at all; returns its bytes. Throws MusterError
 * where it can't, without `force` also for a file that is there.
 */
export async function writePrivate(
  path: string,
  pieces: AsyncIterable<string> | Iterable<string>,
  { force }: { readonly force: boolean },
): Promise<number> {
  const draft = join(dirname(path), `.${basename(path)}.${newId()}.tmp`);
  try {
    const handle = await open(draft, 'wx', FILE_MODE);
    let bytes = 0;
    try {
      for await (const piece of pieces) {
        // One `write` may take a part of it, as on a disk that is nearly full; this goes on or throws.
        await handle.writeFile(piece);
        bytes += byteLength(piece);
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    // A link takes no name that is taken.
    if (force) await rename(draft, path);
    else await link(draft, path);
    return bytes;
  } catch (thrown) {
    throw fileError('write', path, thrown);
  } finally {
    await rm(draft, { force: true });
  }
}

const CODES: Readonly<Record<string, ErrorCode>> = {
  ENOENT: 'NOT_FOUND',
  EEXIST: 'CONFLICT',
  EISDIR: 'INVALID_PARAM',
  ENOTDIR: 'INVALID_PARAM',
  EACCES: 'PERMISSION_DENIED',
  EPERM: 'PERMISSION_DENIED',
  EROFS: 'PERMISSION_DENIED',
};

/** `path` as it was meant: the system may have been asked for another name beside it. */
export function fileError(action: string, path: string, thrown: unknown): MusterError {
  if (thrown instanceof MusterError) return thrown;
  const code = systemErrorCode(thrown) ?? '';
  const why = errorMessage(thrown).replace(/, \w+ '.*$/, '');
  const advice = code === 'EEXIST' ? '; --force replaces a file' : '';
  return new MusterError(
    CODES[code] ?? 'INTERNAL_ERROR',
    `cannot ${action} ${path}: ${why}${advice}`,
    { cause: thrown },
  );
}
