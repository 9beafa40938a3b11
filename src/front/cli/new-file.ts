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

/** The permission bits of a file that only its user can read. */
export const PRIVATE_MODE = 0o600;
/** The usual permission bits of a program's output. */
export const SHARED_MODE = 0o666;

/**
 * Checks that a file can be written, before the work for it is done. Throws a MusterError whose message begins with
 * the path: if the file exists and `force` is false, if the path is something that a file cannot replace, such as a
 * directory, and if the directory of the file is missing.
 */
export function checkNewFile({ path, force }: OutputFile): void {
  try {
    if (statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory() !== true) {
      throw new MusterError('NOT_FOUND', `${path}: there is no directory ${dirname(path)}`);
    }
    // Links are followed, because a link to a device, such as /dev/stdout, must be refused like the device.
    const existing =
      statSync(path, { throwIfNoEntry: false }) ?? lstatSync(path, { throwIfNoEntry: false });
    if (existing === undefined) return;
    if (!existing.isFile() && !existing.isSymbolicLink()) {
      throw new MusterError(
        'INVALID_PARAM',
        `${path} is ${describeFileType(existing)}, and not a file`,
      );
    }
    if (!force) throw existingFileError(path);
  } catch (thrown) {
    throw toFileError(path, thrown);
  }
}

/**
 * Writes a file completely or not at all, and returns its size in bytes. Throws the errors of `checkNewFile`, errors
 * of the disk, and errors of the iteration over `pieces`.
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
        // `handle.write` may write only a part, for example on a full disk; `writeFile` writes everything or throws.
        await handle.writeFile(piece);
        bytes += byteLength(piece);
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    // `link` fails if the file exists: another process may have created it since the check.
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
