import { existsSync } from 'node:fs';
import { link, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorMessage, MusterError, UsageError } from '../../../../base/errors.ts';
import { newId } from '../../../../base/ids.ts';

interface OutFile {
  /** Absolute. */
  readonly path: string;
  readonly force: boolean;
}

/** Before the work is done for it: throws UsageError for a file that is there, or has nowhere to be. */
export function checkOutFile({ path, force }: OutFile): void {
  if (!existsSync(dirname(path))) throw new UsageError(`--out ${path}: there is no such directory`);
  if (!force && existsSync(path)) {
    throw new UsageError(`--out ${path}: the file is there; --force replaces it`);
  }
}

/** The file is there whole or not at all. */
export async function writeOutFile({ path, force }: OutFile, text: string): Promise<void> {
  const draft = join(dirname(path), `.${basename(path)}.${newId()}.tmp`);
  try {
    const handle = await open(draft, 'wx');
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    // A link takes no name that is taken.
    if (force) await rename(draft, path);
    else await link(draft, path);
  } catch (thrown) {
    throw new MusterError('INTERNAL_ERROR', `cannot write ${path}: ${errorMessage(thrown)}`, {
      cause: thrown,
    });
  } finally {
    await rm(draft, { force: true });
  }
}
