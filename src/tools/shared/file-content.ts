import { createHash } from 'node:crypto';
import type { OpenFile } from '../../sys/open-in-roots.ts';
import { fileChunks } from '../../sys/read-file.ts';

/**
 * Files up to this size are read to the end, for their hash and number of lines; of larger ones only
 * what is asked for. It is also what Edit and Write can replace.
 */
export const MAX_EDIT_BYTES = 32 * 1024 * 1024;

/** For a file too large to be hashed each time: what changes when its contents do. */
export function statFingerprint({ stats }: OpenFile): string {
  return `stat:${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeNs}`;
}

/** What a Read of the whole file remembers it by: sha256, hex; of a larger one `statFingerprint`. */
export async function fileFingerprint(file: OpenFile, signal: AbortSignal): Promise<string> {
  if (file.stats.size > BigInt(MAX_EDIT_BYTES)) return statFingerprint(file);
  const hash = createHash('sha256');
  for await (const chunk of fileChunks(file, signal)) hash.update(chunk);
  return hash.digest('hex');
}
