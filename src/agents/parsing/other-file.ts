import { dirname } from 'node:path';
import { absolutePath } from '../../sys/paths.ts';
import type { AgentFile, TextBeside } from '../loader/kind.ts';

/**
 * The text of another file that an agent file names: an absolute path, or one relative to the directory
 * that the agent file lies in.
 */
export function otherText(file: AgentFile, path: string): TextBeside {
  if (file.beside !== undefined) return file.beside(absolutePath(path, dirname(file.path)));
  return { ok: false, reason: 'Nothing but the agent file itself can be read here.' };
}
