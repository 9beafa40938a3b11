import type { QuarantinedEntry } from '../../../base/cleanup-result.ts';
import { mkdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, type JsonObject } from '../../../base/json.ts';
import { parseJsonLine } from '../../../base/jsonl.ts';
import { systemErrorCode } from '../../../base/errors.ts';
import { newId } from '../../../base/ids.ts';
import { directoryNames, lstatIfPresent, readTextIfPresent } from '../../files/path-lookup.ts';
import { readStartTime } from '../../processes/process-table.ts';
import { NewEntries, type ProtectedPathState } from './new-entries.ts';
import { ProtectedFileBackup } from './file-backup.ts';
import type { EntryContent } from './file-content.ts';

/** Matches the name of a record, `PID-STARTTIME-ID`. The start time distinguishes processes that had the same pid. */
const RECORD_NAME = /^(\d+)-(\d+)-[a-z0-9]+$/;
const TOUCH_INTERVAL_MS = 1_000;
/**
 * The time after the last update of a record in which its command may have created entries. Later entries were created
 * by others.
 */
const TOLERANCE_MS = 2 * TOUCH_INTERVAL_MS;

/** The record of one running command. */
export interface CommandRecord {
  /** Records the files that may stay in the workspace, by path, with the time of their last change. */
  accept(files: ReadonlyMap<string, number>): void;
  remove(): void;
}

const NO_RECORD: CommandRecord = { accept: () => {}, remove: () => {} };

/**
 * Records of running commands, each in a file in `directory`. If `directory` is null, no records are kept. If the
 * process that ran a command is killed, a later process uses the record to find the entries that the command created
 * under protected names.
 */
export class CommandRecords {
  private readonly directory: string | null;

  constructor(directory: string | null) {
    this.directory = directory;
  }

  /**
   * Writes a record. If the record cannot be written, the command still runs, without a record. `backup` is a backup of
   * the files that git may change; null if there are none.
   */
  add({ missing, present }: ProtectedPathState, backup: ProtectedFileBackup | null): CommandRecord {
    const ownNamePrefix = getNamePrefix();
    if (this.directory === null || ownNamePrefix === null) return NO_RECORD;
    const path = join(this.directory, `${ownNamePrefix}-${newId()}`);
    const record: Record<string, unknown> = {};
    try {
      mkdirSync(this.directory, { recursive: true, mode: 0o700 });
      const names = [...present].map(([directory, there]) => [directory, [...there]]);
      const before = backup === null ? null : serializeBackup(backup);
      Object.assign(record, { missing, present: names, opened: before });
      writeRecord(path, record);
    } catch (thrown) {
      if (systemErrorCode(thrown) === undefined) throw thrown;
      return NO_RECORD;
    }
    const timer = setInterval(() => touch(path), TOUCH_INTERVAL_MS);
    timer.unref();
    return {
      accept: (files) => {
        try {
          writeRecord(path, { ...record, accepted: [...files] });
        } catch (thrown) {
          // The disk is full, or somebody removed the record. If the record exists, its content is still valid.
          if (systemErrorCode(thrown) === undefined) throw thrown;
        }
      },
      remove: () => {
        clearInterval(timer);
        rmSync(path, { force: true });
      },
    };
  }

  /** Moves the entries that commands of killed processes have created into `quarantine`. */
  cleanUp(quarantine: string | null): readonly QuarantinedEntry[] {
    const { directory } = this;
    if (directory === null) return [];
    return directoryNames(directory).flatMap((name) => {
      const [, pid, startTime] = RECORD_NAME.exec(name) ?? [];
      if (pid === undefined || String(readStartTime(Number(pid))) === startTime) return [];
      const path = join(directory, name);
      const removed = cleanUpRecord(path, quarantine);
      rmSync(path, { force: true });
      return removed;
    });
  }
}

/** Replaces the record atomically. */
function writeRecord(path: string, record: Readonly<Record<string, unknown>>): void {
  const draft = `${path}.draft`;
  writeFileSync(draft, JSON.stringify(record), { mode: 0o600 });
  renameSync(draft, path);
}

function cleanUpRecord(path: string, quarantine: string | null): readonly QuarantinedEntry[] {
  const record = readRecord(path);
  const lastUpdate = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  if (record === null || lastUpdate === undefined) return [];
  const accepted = new Map(parsePairs(record['accepted']));
  const isOfCommand = (entry: string): boolean =>
    (lstatIfPresent(entry)?.ctimeMs ?? Infinity) <= lastUpdate + TOLERANCE_MS;
  const opened = parseBackup(record['opened'], quarantine)?.restoreAll(isOfCommand);
  const entries = new NewEntries(
    parsePathState(record),
    () => Promise.resolve(new Set()),
    quarantine,
  );
  entries.accept(accepted);
  return [...(opened?.removed ?? []), ...entries.settleNow(isOfCommand)];
}

/** Reads a record. Returns null if the record is incomplete: the command then did not begin. */
function readRecord(path: string): JsonObject | null {
  const value = parseJsonLine(readTextIfPresent(path) ?? '');
  return isJsonObject(value) ? value : null;
}

function parsePathState({
  missing,
  present,
}: Readonly<Record<string, unknown>>): ProtectedPathState {
  return {
    missing: parseStrings(missing),
    present: new Map(
      (Array.isArray(present) ? present : []).flatMap((pair) => {
        const [directory, names] = Array.isArray(pair) ? pair : [];
        return typeof directory === 'string' ? [[directory, new Set(parseStrings(names))]] : [];
      }),
    ),
  };
}

function parsePairs(value: unknown): readonly (readonly [string, number])[] {
  return (Array.isArray(value) ? value : []).flatMap((pair) => {
    const [path, time] = Array.isArray(pair) ? pair : [];
    return typeof path === 'string' && typeof time === 'number' ? [[path, time] as const] : [];
  });
}

function parseStrings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

function touch(path: string): void {
  const now = new Date();
  try {
    utimesSync(path, now, now);
  } catch (thrown) {
    // Somebody removed the record, or the disk can no longer be written to.
    if (systemErrorCode(thrown) === undefined) throw thrown;
  }
}

let ownNamePrefix: string | null | undefined;

/** Returns the prefix of the names of this process's records; null without /proc. */
function getNamePrefix(): string | null {
  if (ownNamePrefix === undefined) {
    const startTime = readStartTime(process.pid);
    ownNamePrefix = startTime === undefined ? null : `${process.pid}-${startTime}`;
  }
  return ownNamePrefix;
}

/** Converts a backup to JSON data from which another process can restore the files. */
function serializeBackup(backup: ProtectedFileBackup): unknown {
  const files = [...backup.files()].map(({ path, kind, mode, content }) => {
    return { path, kind, mode, content: content.toString('base64') };
  });
  return { places: backup.paths, files };
}

/** Parses the backup in a record; null if there is none. `directory` is the directory for quarantined files. */
function parseBackup(value: unknown, directory: string | null): ProtectedFileBackup | null {
  if (!isJsonObject(value) || !isJsonObject(value['places'])) return null;
  const { trees, configurations, links } = value['places'];
  const places = {
    trees: parseStrings(trees),
    configurations: parseStrings(configurations),
    links: parseStrings(links),
  };
  const files = Array.isArray(value['files']) ? value['files'].flatMap(parseFile) : [];
  return new ProtectedFileBackup(
    places,
    new Map(files.map((file) => [file.path, file])),
    directory,
  );
}

function parseFile(value: unknown): readonly EntryContent[] {
  if (!isJsonObject(value)) return [];
  const { path, kind, mode, content } = value;
  const isFile =
    typeof path === 'string' && typeof mode === 'number' && typeof content === 'string';
  if (!isFile || (kind !== 'file' && kind !== 'link')) return [];
  return [{ path, kind, mode, content: Buffer.from(content, 'base64') }];
}
