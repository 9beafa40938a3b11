import { systemErrorCode } from '../../base/errors.ts';
import { writeAllBytes, type FilePort } from '../files/file-port.ts';

const COUNT = /^\d{1,15}$/;

/**
 * The number of the last event that came from elsewhere; null where there is no mark. All are, for a
 * mark that does not say.
 */
export function readImportMark(files: FilePort, path: string): number | null {
  try {
    const text = files.readFile(path).toString('utf8').trim();
    return COUNT.test(text) ? Number(text) : Number.MAX_SAFE_INTEGER;
  } catch (thrown) {
    if (systemErrorCode(thrown) === 'ENOENT') return null;
    throw thrown;
  }
}

/** Marks a task as come from elsewhere, in place of any mark that was left of one before it. */
export function writeImportMark(files: FilePort, path: string, lastSeq: number): void {
  if (files.stat(path) !== undefined) files.unlink(path);
  const fd = files.openNew(path);
  try {
    writeAllBytes(files, fd, Buffer.from(`${lastSeq}\n`));
  } finally {
    files.close(fd);
  }
}
