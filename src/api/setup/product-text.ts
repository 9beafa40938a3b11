import { readFileSync, statSync } from 'node:fs';
import { errorMessage, systemErrorCode } from '../../base/errors.ts';
import { readProjectFile, TRUST_ALL } from '../../sys/files/project-file.ts';

/** The maximum size of a user's file in bytes. Claude Code keeps its history in the same file. */
const MAX_USER_FILE_BYTES = 50_000_000;
/** The maximum size of a project's file in bytes. */
const MAX_PROJECT_FILE_BYTES = 1_000_000;

/** The text of a file, or the reason why it cannot be read. */
type TextReading = { readonly text: string } | { readonly problem: string };

/**
 * Reads a configuration file of another product. Files of the project need no trust here, because the caller only shows
 * them to a person. Returns null if there is none.
 */
export function readProductText(
  { path, scope }: { readonly path: string; readonly scope: 'user' | 'project' },
  project: string,
): TextReading | null {
  return scope === 'user' ? readUserText(path) : readProjectText(path, project);
}

/** Reads a file of the user. Returns null if there is none. */
function readUserText(path: string): TextReading | null {
  try {
    const stats = statSync(path);
    if (!stats.isFile()) return { problem: 'it is not a file' };
    if (stats.size > MAX_USER_FILE_BYTES) {
      return { problem: `it is larger than the limit of ${MAX_USER_FILE_BYTES} bytes` };
    }
    return { text: readFileSync(path, 'utf8') };
  } catch (thrown) {
    const code = systemErrorCode(thrown);
    if (code === undefined) throw thrown;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    return { problem: `it cannot be read: ${errorMessage(thrown)}` };
  }
}

function readProjectText(path: string, boundary: string): TextReading | null {
  const request = { kind: 'mcp', path, boundary, maxBytes: MAX_PROJECT_FILE_BYTES } as const;
  const reading = readProjectFile(request, TRUST_ALL);
  switch (reading.kind) {
    case 'read':
      return { text: reading.bytes.toString('utf8') };
    case 'refused':
      return { problem: reading.reason };
    case 'absent':
    case 'untrusted':
      return null;
  }
}
