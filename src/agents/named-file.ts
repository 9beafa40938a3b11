import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorMessage, systemErrorCode } from '../base/errors.ts';
import { projectRoot } from '../sys/files/project-directories.ts';
import { detectFormat } from './formats/detect-format.ts';
import type { FileDefinitions } from './loader/format.ts';
import { readReferencedFile, readTextFile, type TextReading } from './loader/read-text.ts';
import { failedFile } from './parsing/fields.ts';

/**
 * Reads the agents of a file that a person has named, in any format and any directory. Never throws because of the
 * content of the file.
 *
 * @param path an absolute path
 */
export async function readNamedAgentFile(path: string): Promise<FileDefinitions> {
  const text = readNamedText(path);
  if (!text.ok) return failedFile({ path }, { code: text.code, message: text.reason });
  const format = detectFormat(path, text.text);
  if (format === undefined) {
    const message = 'It is in none of the formats for agents.';
    return failedFile({ path }, { code: 'not-an-agent', message });
  }
  const boundary = realpathSync.native(projectRoot(dirname(path)));
  return format.read({
    path,
    scope: 'user',
    text: text.text,
    readReferenced: (referenced) => readReferencedFile(referenced, boundary),
  });
}

/** Returns the text of an agent's file, or null if the file does not exist or cannot be read. */
export function agentFileText(path: string): string | null {
  const text = readNamedText(path);
  return text.ok ? text.text : null;
}

function readNamedText(path: string): TextReading {
  try {
    return readTextFile(realpathSync.native(path));
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === undefined) throw error;
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      return { ok: false, code: 'no-file', reason: 'There is no such file.' };
    }
    return { ok: false, code: 'unreadable', reason: `Cannot be read: ${errorMessage(error)}` };
  }
}
