import { dirname, join } from 'node:path';
import { MusterError, systemErrorCode } from '../../base/errors.ts';
import type { FilePort, FileStat } from './file-port.ts';
import { storageError } from './storage-error.ts';

/** Where things lie in a data directory: flat, so that a listing reads one directory. */
export interface DataPaths {
  readonly root: string;
  readonly tasks: string;
  readonly blobs: string;
  /** What files of the user held before tasks changed them: see `TaskStore.keepFormer`. */
  readonly backups: string;
  readonly spill: string;
  /** Who has locks: see OwnerLocks. */
  readonly owners: string;
  readonly index: string;
  /** What the last sweep found: see Sweep. */
  readonly sweepRecord: string;
}

const WRITABLE_BY_OTHERS = 0o022;

export function getDataPaths(root: string): DataPaths {
  return {
    root,
    tasks: join(root, 'tasks'),
    blobs: join(root, 'blobs'),
    backups: join(root, 'former'),
    spill: join(root, 'spill'),
    owners: join(root, 'owners'),
    index: join(root, 'index.jsonl'),
    sweepRecord: join(root, 'swept.json'),
  };
}

/**
 * Makes the data directory where it is missing (0700) and refuses one that somebody else could have
 * tampered with. Returns the directories whose names may not be durable yet: those that got a new one,
 * and the data directory itself, which another process may have made and died.
 */
export function prepareDataDirectory(
  files: FilePort,
  paths: DataPaths,
  uid: number | undefined,
): readonly string[] {
  const changed = new Set<string>([paths.root]);
  const { tasks, blobs, backups: former, spill, owners } = paths;
  for (const path of [paths.root, tasks, blobs, former, spill, owners]) {
    try {
      createWithParents(files, path, changed);
    } catch (thrown) {
      throw storageError('create directory', path, thrown);
    }
    checkDataDirectory(path, files.stat(path), uid);
  }
  return [...changed];
}

function createWithParents(files: FilePort, path: string, changed: Set<string>): void {
  if (files.stat(path) !== undefined) return;
  const parent = dirname(path);
  if (parent !== path) createWithParents(files, parent, changed);
  try {
    files.makeDirectory(path);
  } catch (thrown) {
    // Another process made it between the two calls; whether it will do is looked at next.
    if (systemErrorCode(thrown) !== 'EEXIST') throw thrown;
  }
  changed.add(parent);
}

/** Throws MusterError unless a directory is the user's own, and nobody else can write to it. */
export function checkDataDirectory(
  path: string,
  stat: FileStat | undefined,
  uid: number | undefined,
): void {
  if (stat === undefined || !stat.isDirectory) {
    throw new MusterError('INVALID_PARAM', `the data directory ${path} is not a directory`);
  }
  if (uid !== undefined && stat.uid !== uid) {
    throw new MusterError(
      'PERMISSION_DENIED',
      `the data directory ${path} belongs to user ${stat.uid}, not to you (${uid}): choose another one with --data-dir`,
    );
  }
  if ((stat.mode & WRITABLE_BY_OTHERS) !== 0) {
    throw new MusterError(
      'PERMISSION_DENIED',
      `others can write to the data directory ${path} (mode ${stat.mode.toString(8)}): run chmod go-w on it`,
    );
  }
}
