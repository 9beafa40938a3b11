import { readFileIfExists, writeAllBytes, type FilePort } from '../files/file-port.ts';

const COUNT = /^\d{1,15}$/;

/**
 * Reads the number of the last imported event; null if the task has no mark. If the mark contains no number, all events
 * count as imported.
 */
export function readImportMark(files: FilePort, path: string): number | null {
  const text = readFileIfExists(files, path)?.toString('utf8').trim();
  if (text === undefined) return null;
  return COUNT.test(text) ? Number(text) : Number.MAX_SAFE_INTEGER;
}

/** Marks a task as imported. Replaces a mark that an earlier task with this id has left. */
export function writeImportMark(files: FilePort, path: string, lastSeq: number): void {
  if (files.stat(path) !== undefined) files.unlink(path);
  const fd = files.openNew(path);
  try {
    writeAllBytes(files, fd, Buffer.from(`${lastSeq}\n`));
  } finally {
    files.close(fd);
  }
}
