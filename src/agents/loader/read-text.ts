import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { errorMessage } from '../../base/errors.ts';
import { readAtMost } from '../../sys/read-at-most.ts';

/** Bytes of one agent file. */
export const MAX_AGENT_BYTES = 4 * 1024 * 1024;

/** Without state between two texts; a byte order mark is not part of the text. */
const UTF8 = new TextDecoder('utf-8', { fatal: true });

type ReadText =
  | { readonly ok: true; readonly text: string; readonly bytes: number }
  | { readonly ok: false; readonly code: string; readonly reason: string };

/**
 * A regular file as text: never a link, device or pipe, never more than 4 MB, never binary. `path` is
 * a real path; a link put there since it was resolved is refused.
 */
export function readText(path: string): ReadText {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    return refused('unreadable', `Cannot be read: ${errorMessage(error)}`);
  }
  try {
    if (!fstatSync(descriptor).isFile()) return refused('not-a-file', 'Not a regular file.');
    const bytes = readAtMost(descriptor, MAX_AGENT_BYTES);
    if (bytes !== undefined) return agentText(bytes);
    return refused('too-large', `Larger than ${MAX_AGENT_BYTES / 1024 / 1024} MB.`);
  } catch (error) {
    return refused('unreadable', `Cannot be read: ${errorMessage(error)}`);
  } finally {
    closeSync(descriptor);
  }
}

/** The bytes of an agent file as text: UTF-8 without NUL. */
export function agentText(bytes: Buffer): ReadText {
  if (bytes.includes(0)) return refused('binary', 'A binary file (it holds NUL bytes).');
  try {
    return { ok: true, text: UTF8.decode(bytes), bytes: bytes.length };
  } catch {
    // The decoder throws for nothing else.
    return refused('not-utf8', 'Not UTF-8 text. Save it as UTF-8.');
  }
}

function refused(code: string, reason: string): ReadText {
  return { ok: false, code, reason };
}
