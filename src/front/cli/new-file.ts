import { lstatSync, statSync } from 'node:fs';
import { link, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { MusterError, systemErrorCode } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import { byteLength } from '../../base/text.ts';
import { toFileError, describeFileType } from '../../sys/files/file-errors.ts';

/** A file that a command will write. */
export interface OutputFile {
  /** Absolute. */
  readonly path: string;
  /** Whether it replaces an existing file. */
  readonly force: boolean;
  /** Permission bits, before the umask. */
  readonly mode: number;
}

/** Only its user can read the file. */
export const PRIVATE_MODE = 0o600;
/** The usual rights of a program's output. */
export const SHARED_MODE = 0o666;

/**
 * Checks that a file can be written, before the work for it is done. Throws MusterError, which begins with the
 * path: for an existing file without `force`, for anything that a file cannot replace, and if the directory is
 * missing.
 */
export function checkNewFile({ path, force }: OutputFile): void {
  try {
    if (statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory() !== true) {
      throw new MusterError('NOT_FOUND', `${path}: there is no directory ${dirname(path)}`);
    }
    // A link to a device is as good as the device: /dev/stdout is one.
    const there =
      statSync(path, { throwIfNoEntry: false }) ?? lstatSync(path, { throwIfNoEntry: false });
    if (there === undefined) return;
    if (!there.isFile() && !there.isSymbolicLink()) {
      throw new MusterError(
        'INVALID_PARAM',
        `${path} is ${describeFileType(there)}, and not a file`,
      );
    }
    if (!force) throw existingFileError(path);
  } catch (thrown) {
    throw toFileError(path, thrown);
  }
}

/**
 * Writes a file as a whole or not at all, and returns its size in bytes. Throws as `checkNewFile` does, and if
 * the disk or the pieces fail.
 */
export async function writeNewFile(
  file: OutputFile,
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
        // A single `write` may take only a part, as on a disk that is nearly full; this writes all or throws.
        await handle.writeFile(piece);
        bytes += byteLength(piece);
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    // A link never replaces an existing file.
    if (force) await rename(draft, path);
    else await link(draft, path);
    return bytes;
  } catch (thrown) {
    throw systemErrorCode(thrown) === 'EEXIST'
      ? existingFileError(path)
      : toFileError(path, thrown);
  } finally {
    await rm(draft, { force: true });
  }
}

function existingFileError(path: string): MusterError {
  return new MusterError('CONFLICT', `${path} exists; --force replaces it`);
}
