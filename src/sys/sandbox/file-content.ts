import { readlinkSync } from 'node:fs';
import { readGitFile } from '../git/read-git-file.ts';
import { look } from './looks.ts';

/** What a file or a symbolic link is, as far as git keeps it. */
export interface FileContent {
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

/** Null: it is missing, neither a file nor a link, or larger than 8 MB. */
export function contentOf(path: string): FileContent | null {
  const stats = look(path);
  if (stats?.isSymbolicLink() === true) {
    return { path, kind: 'link', content: readlinkSync(path, { encoding: 'buffer' }), mode: 0 };
  }
  const content = stats?.isFile() === true ? readGitFile(path, MAX_BYTES) : null;
  if (!(content instanceof Buffer) || stats === undefined) return null;
  return { path, kind: 'file', content, mode: stats.mode & PERMISSIONS };
}
