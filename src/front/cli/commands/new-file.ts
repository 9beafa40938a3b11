import { lstatSync, statSync } from 'node:fs';
import { link, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { MusterError, systemErrorCode } from '../../../base/errors.ts';
import { newId } from '../../../base/ids.ts';
import { byteLength } from '../../../base/text.ts';
import { fileError, fileKind } from '../../../sys/file-errors.ts';

/** A file that a command is to write. */
export interface NewFile {
  /** Absolute. */
  readonly path: string;
  /** It takes the place of a file that is there. */
  readonly force: boolean;
  /** Permission bits, before the umask. */
  readonly mode: number;
}

/** Its user alone reads it. */
export const PRIVATE = 0o600;
/** As any program's output. */
export const SHARED = 0o666;

/**
 * Before the work is done for it. Throws MusterError, which begins with the path, for a file that is there
 * without `force`, for what no file takes the place of, and where there is no directory for it.
 */
export function checkNewFile({ path, force }: NewFile): void {
  try {
    if (statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory() !== true) {
      throw new MusterError('NOT_FOUND', `${path}: there is no directory ${dirname(path)}`);
    }
    // A link to a device is as good as the device: /dev/stdout is one.
    const there =
      statSync(path, { throwIfNoEntry: false }) ?? lstatSync(path, { throwIfNoEntry: false });
    if (there === undefined) return;
    if (!there.isFile() && !there.isSymbolicLink()) {
      throw new MusterError('INVALID_PARAM', `${path} is ${fileKind(there)}, and not a file`);
    }
    if (!force) throw isThere(path);
  } catch (thrown) {
    throw fileError(path, thrown);
  }
}

/**
 * Writes it whole or not at all; returns its bytes. Throws as `checkNewFile` does, and where the disk or the
 * pieces fail.
 */
export async function writeNewFile(
  file: NewFile,
  pieces: AsyncIterable<string> | Iterable<string>,
): Promise<number> {
  checkNewFile(file);
  const { path, force, mode } = file;
  const draft = join(dirname(path), `.${basename(path)}.${newId()}.tmp`);
  try {
    const handle = await open(draft, 'wx', mode);
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
    throw systemErrorCode(thrown) === 'EEXIST' ? isThere(path) : fileError(path, thrown);
  } finally {
    await rm(draft, { force: true });
  }
}

function isThere(path: string): MusterError {
  return new MusterError('CONFLICT', `${path} is there; --force replaces it`);
}
