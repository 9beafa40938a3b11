import { realpathSync } from 'node:fs';
import { errorMessage, systemErrorCode } from '../../base/errors.ts';
import { isInside } from '../../sys/paths.ts';
import { isSecretPath } from '../../sys/secret-paths.ts';
import type { AgentFormat } from './kind.ts';
import { readText } from './read-text.ts';

type ReadText = ReturnType<typeof readText>;

/** A file that an agent file names, with `read` where it lies inside the boundary and is no secret. */
export function readBeside(
  path: string,
  boundary: string,
  read: (realPath: string) => ReadText = readText,
): ReadText {
  try {
    const real = realpathSync.native(path);
    if (!isInside(boundary, real)) return refused(`It lies outside of ${boundary}.`);
    return [path, real].some(isSecretPath)
      ? refused('It is a file that usually holds secrets.')
      : read(real);
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return refused(`It cannot be read: ${errorMessage(error)}.`);
  }
}

function refused(reason: string): ReadText {
  return { ok: false, code: 'unreadable', reason };
}

/** The code of what `promptTextFormat` tells. */
export const PROMPT_TEXT = 'prompt-text';

/** What another file's prompt is read from: no agent, and trusted like one. */
export const promptTextFormat: AgentFormat = {
  vendor: 'prompt',
  places: { project: [], user: () => [] },
  accepts: () => false,
  filesBeside: async () => [],
  async read({ path }) {
    const message = 'the prompt of an agent that another file defines; read it in the file';
    return { items: [], problems: [{ code: PROMPT_TEXT, message, path }] };
  },
};
