import { dirname, join } from 'node:path';
import { MusterError, systemErrorCode } from '../../base/errors.ts';
import { isInside } from '../../base/path-inside.ts';
import { NO_HOME } from '../../sys/env.ts';
import { storageError, type FilePort, type FileStat } from './file-port.ts';

/** The paths in a data directory. `tasks` has no subdirectories, so that a listing reads one directory. */
export interface DataPaths {
  readonly root: string;
  readonly tasks: string;
  readonly blobs: string;
  /** Contents of the user's files before tasks changed them: see `TaskStore.putBackup`. */
  readonly backups: string;
  readonly spill: string;
  /** One file for each store that may hold locks: see `OwnerLocks`. */
  readonly owners: string;
  readonly index: string;
  /** The result of the last sweep: see `SweepRecord`. */
  readonly sweepRecord: string;
}

const WRITABLE_BY_OTHERS = 0o022;

/** The error for a directory in a home directory that the user does not have. The super-user could create it. */
class MissingHomeError extends Error {
  readonly code = 'ENOENT';

  constructor() {
    super(
      'there is no home directory; set HOME, or choose another directory with --data-dir or MUSTER_DATA_DIR',
    );
  }
}

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
 * Creates the data directory (0700) if it is missing, and throws if another user may have changed its content.
 * Returns the directories whose names may not be durable yet: those in which a directory was created, and the data
 * directory itself, which another process may have created before it died.
 */
export function prepareDataDirectory(
  files: FilePort,
  paths: DataPaths,
  uid: number | undefined,
): readonly string[] {
  const changed = new Set<string>([paths.root]);
  const { tasks, blobs, backups, spill, owners } = paths;
  for (const path of [paths.root, tasks, blobs, backups, spill, owners]) {
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
  if (isInside(NO_HOME, path)) throw new MissingHomeError();
  if (files.stat(path) !== undefined) return;
  const parent = dirname(path);
  if (parent !== path) createWithParents(files, parent, changed);
  try {
    files.makeDirectory(path);
  } catch (thrown) {
    // Another process created it between the two calls. The caller checks it next.
    if (systemErrorCode(thrown) !== 'EEXIST') throw thrown;
  }
  changed.add(parent);
}

/** Throws MusterError unless a directory belongs to the user and nobody else can write to it. */
export function checkDataDirectory(
  path: string,
  stat: FileStat | undefined,
  uid: number | undefined,
): void {
  if (stat === undefined || !stat.isDirectory) {
    throw new MusterError('INVALID_PARAM', `the data directory ${path} is not a directory`);
  }
  if (uid !== undefined && stat.uid !== uid) {
    const message = `the data directory ${path} belongs to user ${stat.uid}, not to you (${uid}): choose another one with --data-dir`;
    throw new MusterError('PERMISSION_DENIED', message);
  }
  if ((stat.mode & WRITABLE_BY_OTHERS) !== 0) {
    const message = `others can write to the data directory ${path} (mode ${stat.mode.toString(8)}): run chmod go-w on it`;
    throw new MusterError('PERMISSION_DENIED', message);
  }
}
