import { readlinkSync } from 'node:fs';
import { systemErrorCode } from '../../../base/errors.ts';
import { readGitFile } from '../../git/read-git-file.ts';
import { lstatIfPresent } from '../../files/path-lookup.ts';

/** The content of a file or a symbolic link, as far as git stores it. */
export interface EntryContent {
  /** Absolute. */
  readonly path: string;
  readonly kind: 'file' | 'link';
  /** The bytes of a file, or the target of a link. */
  readonly content: Buffer;
  /** Permission bits; 0 for a link. */
  readonly mode: number;
}

const MAX_BYTES = 8 * 1024 * 1024;
const PERMISSIONS = 0o777;

/** Reads a file or link. Returns null if it is missing, something else, larger than 8 MB, or not readable. */
export function readEntryContent(path: string): EntryContent | null {
  const stats = lstatIfPresent(path);
  if (stats?.isSymbolicLink() === true) {
    const content = leadsTo(path);
    return content === null ? null : { path, kind: 'link', content, mode: 0 };
  }
  const content = stats?.isFile() === true ? readGitFile(path, MAX_BYTES) : null;
  if (!(content instanceof Buffer) || stats === undefined) return null;
  return { path, kind: 'file', content, mode: stats.mode & PERMISSIONS };
}

function leadsTo(link: string): Buffer | null {
  try {
    return readlinkSync(link, { encoding: 'buffer' });
  } catch (thrown) {
    // A command in the background has put something else there.
    if (systemErrorCode(thrown) === undefined) throw thrown;
    return null;
  }
}
