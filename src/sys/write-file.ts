import * as fs from 'node:fs';
import { basename, dirname } from 'node:path';
import { promisify } from 'node:util';
import { MusterError, systemErrorCode } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import { fileError, fileKind } from './file-errors.ts';
import { holdDirectory, type HeldDirectory } from './held-directory.ts';
import { placeInRoots } from './open-in-roots.ts';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY, O_RDONLY, O_DIRECTORY } = fs.constants;
const writeBytes = promisify(fs.write);
const syncFile = promisify(fs.fsync);
const closeFile = promisify(fs.close);

/** What was there when the content was decided; a file that differs from it is not replaced. */
export type Expected = fs.BigIntStats | 'nothing';

/**
 * Replace or create a file inside the roots, all or nothing: a temporary file beside it, synced,
 * renamed over it, the directory synced. Missing directories are made, the mode and (where allowed)
 * owner of a file that is replaced are kept, and a link is written through to the file it leads to.
 * Gives the real path. Throws MusterError; CONFLICT when what is there is not what was `expected`.
 */
export async function writeFileInRoots(
  path: string,
  roots: readonly string[],
  content: Buffer,
  expected: Expected,
): Promise<string> {
  const { real, root } = placeInRoots(path, roots, { mayBeMissing: true });
  try {
    if (real === root) throw new MusterError('INVALID_PARAM', `${path} is a directory`);
    const directory = holdDirectory(root, dirname(real), { create: true });
    try {
      await replace(path, directory, basename(real), content, expected);
    } finally {
      directory.close();
    }
    return real;
  } catch (thrown) {
    throw fileError(path, thrown);
  }
}

async function replace(
  path: string,
  directory: HeldDirectory,
  name: string,
  content: Buffer,
  expected: Expected,
): Promise<void> {
  const target = directory.at(name);
  requireExpected(path, target, expected);
  const temporary = directory.at(`.muster-${newId()}.tmp`);
  try {
    await writeTemporary(temporary, content, expected);
    directory.verify();
    requireExpected(path, target, expected);
    fs.renameSync(temporary, target);
  } catch (thrown) {
    fs.rmSync(temporary, { force: true });
    throw thrown;
  }
  await syncDirectory(directory.at('.'));
}

async function writeTemporary(path: string, content: Buffer, like: Expected): Promise<void> {
  const fd = fs.openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o666);
  try {
    if (like !== 'nothing') keepOwnerAndMode(fd, like);
    for (let done = 0; done < content.length;) {
      const { bytesWritten } = await writeBytes(fd, content, done, content.length - done, done);
      done += bytesWritten;
    }
    await syncFile(fd);
  } finally {
    await closeFile(fd);
  }
}

function keepOwnerAndMode(fd: number, like: fs.BigIntStats): void {
  try {
    fs.fchownSync(fd, Number(like.uid), Number(like.gid));
  } catch (thrown) {
    // Only root may give files away: anybody else keeps what they write.
    if (systemErrorCode(thrown) !== 'EPERM') throw thrown;
  }
  fs.fchmodSync(fd, Number(like.mode & 0o7777n));
}

function requireExpected(path: string, target: string, expected: Expected): void {
  const found = fs.lstatSync(target, { bigint: true, throwIfNoEntry: false });
  if (found !== undefined && !found.isFile()) {
    throw new MusterError('INVALID_PARAM', `${path} is ${fileKind(found)}, not a regular file`);
  }
  if (found !== undefined && (found.mode & 0o222n) === 0n) {
    throw new MusterError('PERMISSION_DENIED', `${path} is read-only: nobody may write it`);
  }
  const same =
    found === undefined || expected === 'nothing'
      ? found === undefined && expected === 'nothing'
      : found.ino === expected.ino &&
        found.dev === expected.dev &&
        found.size === expected.size &&
        found.mtimeNs === expected.mtimeNs;
  if (!same) throw changedMeanwhile(path);
}

function changedMeanwhile(path: string): MusterError {
  return new MusterError(
    'CONFLICT',
    `${path} was changed by somebody else just now; nothing was written. Read it again.`,
    { retryable: true },
  );
}

/** So that the new name survives a power cut; a directory that may not be opened is left alone. */
async function syncDirectory(path: string): Promise<void> {
  let fd: number;
  try {
    fd = fs.openSync(path, O_RDONLY | O_DIRECTORY);
  } catch (thrown) {
    if (systemErrorCode(thrown) === 'EACCES') return;
    throw thrown;
  }
  try {
    await syncFile(fd);
  } catch (thrown) {
    // Some file systems (network, overlay) cannot sync a directory; the file itself is synced.
    if (systemErrorCode(thrown) !== 'EINVAL') throw thrown;
  } finally {
    await closeFile(fd);
  }
}
