import { cpSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { errorMessage, systemErrorCode } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import { makePrivateTempDirectory } from './private-directories.ts';

/** An entry that was taken out of the workspace, and where it is now; null: it is still there, and why. Absolute paths. */
export type RemovedEntry =
  | { readonly path: string; readonly keptAt: string }
  | { readonly path: string; readonly keptAt: null; readonly problem: string };

/** What was found under protected names when a command had ended. */
export interface Settlement {
  readonly removed: readonly RemovedEntry[];
  /** Paths that git wrote with the content of a commit. */
  readonly fromCommits: readonly string[];
}

/**
 * Moves an entry out of the workspace into a new directory below `directory` (made when needed; null: the
 * temporary directory), and says where it is. Null: it is gone already.
 */
export function putAside(path: string, directory: string | null): RemovedEntry | null {
  try {
    const keptAt = join(newPlace(directory), basename(path));
    try {
      return move(path, keptAt);
    } catch (thrown) {
      if (systemErrorCode(thrown) !== 'EXDEV') throw thrown;
      return moveToOtherDisk(path, keptAt);
    }
  } catch (thrown) {
    const code = systemErrorCode(thrown);
    if (code === undefined) throw thrown;
    return code === 'ENOENT' ? null : { path, keptAt: null, problem: errorMessage(thrown) };
  }
}

function newPlace(directory: string | null): string {
  if (directory === null) return makePrivateTempDirectory('muster-removed-');
  const place = join(directory, newId());
  mkdirSync(place, { recursive: true, mode: 0o700 });
  return place;
}

function move(path: string, keptAt: string): RemovedEntry {
  renameSync(path, keptAt);
  return { path, keptAt };
}

/** What can't be copied, such as a socket, or the last of a full disk, gets another name beside its own. */
function moveToOtherDisk(path: string, keptAt: string): RemovedEntry {
  const beside = `${path}.removed-${newId()}`;
  renameSync(path, beside);
  try {
    cpSync(beside, keptAt, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  } catch {
    rmSync(keptAt, { recursive: true, force: true });
    return { path, keptAt: beside };
  }
  rmSync(beside, { recursive: true, force: true });
  return { path, keptAt };
}
