import { cpSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errorMessage, systemErrorCode } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';

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
 * Moves an entry into a new directory below `directory` (made when needed), and says where it is. `directory` null:
 * nothing is kept outside of the workspace, so it gets a harmless name beside its own. Null: it is gone already.
 */
export function putAside(path: string, directory: string | null): RemovedEntry | null {
  try {
    if (directory === null) return move(path, besideItself(path));
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

function newPlace(directory: string): string {
  const place = join(directory, newId());
  mkdirSync(place, { recursive: true, mode: 0o700 });
  return place;
}

/** No program obeys a file of this name. */
function besideItself(path: string): string {
  return join(dirname(path), `removed-${newId()}-${basename(path).replace(/^\.+/, '')}`);
}

function move(path: string, keptAt: string): RemovedEntry {
  renameSync(path, keptAt);
  return { path, keptAt };
}

/** What can't be copied, such as a socket, or the last of a full disk, gets another name beside its own. */
function moveToOtherDisk(path: string, keptAt: string): RemovedEntry {
  const beside = besideItself(path);
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
