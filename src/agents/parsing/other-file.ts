import { dirname } from 'node:path';
import { absolutePath } from '../../sys/paths.ts';
import type { DefinitionFile, ReferencedText } from '../loader/format.ts';

/**
 * The text of another file that an agent file names: an absolute path, or one relative to the directory
 * that the agent file lies in.
 */
export function otherText(file: DefinitionFile, path: string): ReferencedText {
  if (file.readReferenced !== undefined)
    return file.readReferenced(absolutePath(path, dirname(file.path)));
  return { ok: false, reason: 'Nothing but the agent file itself can be read here.' };
}
