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
import { errorMessage, systemErrorCode } from '../../../base/errors.ts';
import { newId } from '../../../base/ids.ts';
import { holdDirectory, type HeldDirectory } from '../../files/held-directory.ts';

/** All rights of its owner. */
const OWNER = 0o700;
/** Linux: a descriptor that needs no right to read. */
const O_PATH = 0o10000000;

/**
 * Moves an entry (absolute, no links in the way) out of the workspace into a new directory below `directory` (made when
 * needed), and says where it is. `directory` null: nothing is kept outside, so it gets a harmless name beside its own.
 * Null: it is gone already. Commands may go on meanwhile: a link that turns up in the way is never followed.
 */
export function quarantineEntry(path: string, directory: string | null): QuarantinedEntry | null {
  try {
    const parent = holdDirectory('/', dirname(path));
    try {
      return moveOut({ parent, name: basename(path), path }, directory);
    } finally {
      parent.close();
    }
  } catch (thrown) {
    const code = systemErrorCode(thrown);
    if (code === undefined) throw thrown;
    return code === 'ENOENT' ? null : { path, keptAt: null, problem: errorMessage(thrown) };
  }
}

interface HeldEntry {
  readonly parent: HeldDirectory;
  readonly name: string;
  /** As it is told. */
  readonly path: string;
}

function moveOut({ parent, name, path }: HeldEntry, directory: string | null): QuarantinedEntry {
  const beside = harmlessName(name);
  const move = (to: string): void => openAndMove(parent, name, to);
  if (directory === null) {
    move(parent.at(beside));
    return { path, keptAt: join(dirname(path), beside) };
  }
  const keptAt = join(newPlace(directory), name);
  try {
    move(keptAt);
    return { path, keptAt };
  } catch (thrown) {
    if (systemErrorCode(thrown) !== 'EXDEV') throw thrown;
  }
  // What can't be copied, such as a socket, or the last of a full disk, gets another name beside its own.
  move(parent.at(beside));
  const from = parent.at(beside);
  try {
    cpSync(from, keptAt, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  } catch {
    rmSync(keptAt, { recursive: true, force: true });
    return { path, keptAt: join(dirname(path), beside) };
  }
  rmSync(from, { recursive: true, force: true });
  return { path, keptAt };
}

/** A command may close the directory, or the one it lies in, to keep what it has made there. */
function openAndMove(parent: HeldDirectory, name: string, to: string): void {
  const from = parent.at(name);
  try {
    renameSync(from, to);
  } catch (thrown) {
    if (systemErrorCode(thrown) !== 'EACCES') throw thrown;
    open(parent.at(''));
    open(from);
    renameSync(from, to);
  }
}

/** Gives the owner of a directory all rights to it. Nothing happens to a file or a link. */
function open(path: string): void {
  if (!lstatSync(path).isDirectory()) return;
  const { O_DIRECTORY, O_NOFOLLOW } = constants;
  const descriptor = openSync(path, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  try {
    chmodSync(`/proc/self/fd/${descriptor}`, fstatSync(descriptor).mode | OWNER);
  } finally {
    closeSync(descriptor);
  }
}

/** No program obeys a file of this name. */
function harmlessName(name: string): string {
  return `removed-${newId()}-${name.replace(/^\.+/, '')}`;
}

function newPlace(directory: string): string {
  const place = join(directory, newId());
  mkdirSync(place, { recursive: true, mode: 0o700 });
  return place;
}
