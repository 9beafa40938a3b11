import { readlinkSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { systemErrorCode } from '../../../base/errors.ts';
import { readGitFile } from '../../git/read-git-file.ts';
import { lstatIfPresent, readDirectoryNames } from '../../files/path-lookup.ts';

/** The properties of a file or symbolic link that git stores. */
export interface EntryContent {
  /** Absolute. */
  readonly path: string;
  readonly kind: 'file' | 'link';
  /** The bytes of a file, or the target of a link. */
  readonly content: Buffer;
  /** Permission bits; 0 for a link. */
  readonly mode: number;
}

/** A file or link that exists. */
export interface ExistingFile {
  /** Absolute. */
  readonly path: string;
  readonly stats: Stats;
}

const MAX_FILE_BYTES = 8 * 1024 * 1024;
const PERMISSIONS = 0o777;

/** Reads a file or link. Returns null if it is missing, something else, larger than 8 MB, or not readable. */
export function readEntryContent(path: string): EntryContent | null {
  const stats = lstatIfPresent(path);
  if (stats?.isSymbolicLink() === true) {
    const content = readLinkTarget(path);
    return content === null ? null : { path, kind: 'link', content, mode: 0 };
  }
  const content = stats?.isFile() === true ? readGitFile(path, MAX_FILE_BYTES) : null;
  if (!(content instanceof Buffer) || stats === undefined) return null;
  return { path, kind: 'file', content, mode: stats.mode & PERMISSIONS };
}

function readLinkTarget(link: string): Buffer | null {
  try {
    return readlinkSync(link, { encoding: 'buffer' });
  } catch (thrown) {
    // A command in the background has removed or replaced the link.
    if (systemErrorCode(thrown) === undefined) throw thrown;
    return null;
  }
}

/**
 * Lists the files and links at or below the paths. Returns null if there are more than `maxFiles`, or if a directory
 * cannot be listed. Missing paths are left out.
 */
export function listFilesBelow(
  paths: readonly string[],
  maxFiles: number,
): readonly ExistingFile[] | null {
  const files: ExistingFile[] = [];
  const waiting = [...paths];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const stats = lstatIfPresent(path);
    if (stats?.isDirectory() === true) {
      const names = readDirectoryNames(path);
      if (names === null) return null;
      waiting.push(...names.map((name) => join(path ?? '', name)));
    } else if (stats !== undefined) files.push({ path, stats });
    if (files.length + waiting.length > maxFiles) return null;
  }
  return files;
}
