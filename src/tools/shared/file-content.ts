import { createHash } from 'node:crypto';
import type { OpenFile } from '../../sys/files/open-in-roots.ts';
import { fileChunks } from '../../sys/files/read-file.ts';

/**
 * The largest file, in bytes, that Edit and Write can replace and that Read reads to the end, for its hash and number
 * of lines. Of a larger file only the requested part is read.
 */
export const MAX_EDIT_BYTES = 32 * 1024 * 1024;

/** Identifies the content of a file that is too large to be hashed each time, by its metadata. */
export function statFingerprint({ stats }: OpenFile): string {
  return `stat:${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeNs}`;
}

/** Identifies the content of a file: its sha256 in hex or, above MAX_EDIT_BYTES, its `statFingerprint`. */
export async function fileFingerprint(file: OpenFile, signal: AbortSignal): Promise<string> {
  if (file.stats.size > BigInt(MAX_EDIT_BYTES)) return statFingerprint(file);
  const hash = createHash('sha256');
  for await (const chunk of fileChunks(file, signal)) hash.update(chunk);
  return hash.digest('hex');
}

/** Reads an open file into memory. Returns null when it turns out to be longer than `maxBytes`. */
export async function readOpenFile(
  file: OpenFile,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Buffer | null> {
  if (file.stats.size > BigInt(maxBytes)) return null;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of fileChunks(file, signal)) {
    size += chunk.length;
    if (size > maxBytes) return null;
    // The chunk's memory is used again for the next one.
    chunks.push(Buffer.from(chunk));
  }
  return Buffer.concat(chunks);
}
