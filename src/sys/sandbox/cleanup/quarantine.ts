import type { QuarantinedEntry } from '../../../base/cleanup-result.ts';
import {
  chmodSync,
  closeSync,
  constants,
  cpSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { atScopeEnd } from '../../../base/at-scope-end.ts';
import { errorMessage, systemErrorCode } from '../../../base/errors.ts';
import { newId } from '../../../base/ids.ts';
import { holdDirectory, type HeldDirectory } from '../../files/held-directory.ts';

/** All permissions of the owner. */
const OWNER_PERMISSIONS = 0o700;
/** Linux: opens a descriptor that only refers to a location, which requires no right to read the entry. */
const O_PATH = 0o10000000;

/**
 * Moves an entry (absolute path without links) out of the workspace into a new directory below `directory`, which is
 * created when needed, and returns its new location. If `directory` is null, the entry is renamed to a harmless name in
 * its own directory. Returns null if the entry no longer exists. Because commands may still run, a link that appears in
 * the path of the entry is not followed.
 */
export function quarantineEntry(path: string, directory: string | null): QuarantinedEntry | null {
  try {
    using parent = holdDirectory('/', dirname(path));
    return moveEntry({ parent, name: basename(path), path }, directory);
  } catch (thrown) {
    const code = systemErrorCode(thrown);
    if (code === undefined) throw thrown;
    return code === 'ENOENT' ? null : { path, keptAt: null, problem: errorMessage(thrown) };
  }
}

interface HeldEntry {
  readonly parent: HeldDirectory;
  readonly name: string;
  /** The path for messages. */
  readonly path: string;
}

function moveEntry({ parent, name, path }: HeldEntry, directory: string | null): QuarantinedEntry {
  const safeName = createSafeName(name);
  const move = (to: string): void => moveWithPermissions(parent, name, to);
  if (directory === null) {
    move(parent.at(safeName));
    return { path, keptAt: join(dirname(path), safeName) };
  }
  const keptAt = join(createDirectory(directory), name);
  try {
    move(keptAt);
    return { path, keptAt };
  } catch (thrown) {
    if (systemErrorCode(thrown) !== 'EXDEV') throw thrown;
  }
  // The directory is on another file system. If the entry cannot be copied, it keeps a harmless name in its own
  // directory.
  move(parent.at(safeName));
  const from = parent.at(safeName);
  try {
    cpSync(from, keptAt, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  } catch {
    rmSync(keptAt, { recursive: true, force: true });
    return { path, keptAt: join(dirname(path), safeName) };
  }
  rmSync(from, { recursive: true, force: true });
  return { path, keptAt };
}

/**
 * Moves an entry, and restores the owner's permissions if needed: a command may have removed them from a directory, so
 * that its entries cannot be moved.
 */
function moveWithPermissions(parent: HeldDirectory, name: string, to: string): void {
  const from = parent.at(name);
  try {
    renameSync(from, to);
  } catch (thrown) {
    if (systemErrorCode(thrown) !== 'EACCES') throw thrown;
    restorePermissions(parent.at(''));
    restorePermissions(from);
    renameSync(from, to);
  }
}

/** Gives the owner of a directory all permissions. Does nothing to a file or a link. */
function restorePermissions(path: string): void {
  if (!lstatSync(path).isDirectory()) return;
  const { O_DIRECTORY, O_NOFOLLOW } = constants;
  const descriptor = openSync(path, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  using _close = atScopeEnd(() => closeSync(descriptor));
  chmodSync(`/proc/self/fd/${descriptor}`, fstatSync(descriptor).mode | OWNER_PERMISSIONS);
}

/** Creates a name that has no effect on any program. */
function createSafeName(name: string): string {
  return `removed-${newId()}-${name.replace(/^\.+/, '')}`;
}

function createDirectory(directory: string): string {
  const place = join(directory, newId());
  mkdirSync(place, { recursive: true, mode: 0o700 });
  return place;
}
