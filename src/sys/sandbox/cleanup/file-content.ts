import { readlinkSync } from 'node:fs';
import { systemErrorCode } from '../../../base/errors.ts';
import { readGitFile } from '../../git/read-git-file.ts';
import { lstatIfPresent } from '../../files/path-lookup.ts';

/** What a file or a symbolic link is, as far as git keeps it. */
export interface EntryContent {
  /** Absolute. */
  readonly path: string;
  readonly kind: 'file' | 'link';
  /** Of a link: where it leads. */
  readonly content: Buffer;
  /** Permission bits; 0 of a link. */
  readonly mode: number;
}

const MAX_BYTES = 8 * 1024 * 1024;
const PERMISSIONS = 0o777;

/** Null: it is missing, neither a file nor a link, larger than 8 MB, or can't be read. */
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
