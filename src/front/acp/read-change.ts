import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import type { Session } from '../../api/index.ts';
import type { FileChange } from '../../protocol/tool.ts';
import type { ChangedTexts } from './tool-call.ts';

/** The maximum size of a file whose texts are sent to the client, in bytes. */
const MAX_BYTES = 1024 * 1024;

/**
 * Reads the texts of a file that a call has changed: the former one from the store, and the new one from the disk if the file is
 * still as the call left it. Returns null if it is not known or not text, is too large, or is gone.
 */
export function readChange(
  store: Pick<Session['store'], 'getBackup'>,
  { path, before, after }: FileChange,
): ChangedTexts | null {
  if (after === null) return null;
  const old = before === null ? null : store.getBackup(before);
  if (before !== null && old === null) return null;
  try {
    if (statSync(path).size > MAX_BYTES || (old?.length ?? 0) > MAX_BYTES) return null;
    const bytes = readFileSync(path);
    if (createHash('sha256').update(bytes).digest('hex') !== after) return null;
    const texts = [old, bytes].map((each) => (each === null ? null : readText(each)));
    const [oldText, newText] = texts;
    if (newText === undefined || newText === null || (old !== null && oldText === null))
      return null;
    return { path, before: oldText ?? null, after: newText };
  } catch {
    // The file is gone or cannot be read any more, so nothing is shown of it.
    return null;
  }
}

function readText(bytes: Buffer): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? null : text;
  } catch {
    // The bytes are not text.
    return null;
  }
}
