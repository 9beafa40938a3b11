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

/** `PID-STARTTIME-ID`. The start time tells apart processes that had the same pid. */
const RECORD = /^(\d+)-(\d+)-[a-z0-9]+$/;
const TOUCH_MS = 1_000;
/**
 * Entries that were created later than this after the last update of a record were not created by its command.
 */
const TOLERANCE_MS = 2 * TOUCH_MS;

/** The record of one running command. */
export interface CommandRecord {
  /** Records the files that may stay, by path, with the time of their last change. */
  accept(files: ReadonlyMap<string, number>): void;
  remove(): void;
}

const NO_RECORD: CommandRecord = { accept: () => {}, remove: () => {} };

/**
 * Records of running commands, one file each in `directory` (null: no records are kept). If the process that
 * ran a command is killed, a later process uses the record to find the entries that the command created under
 * protected names.
 */
export class CommandRecords {
  private readonly directory: string | null;

  constructor(directory: string | null) {
    this.directory = directory;
  }

  /**
   * Writes a record. A directory that cannot be written does not prevent the command from running. `opened`: a
   * backup of the files that git may change; null if there are none.
   */
  add({ missing, present }: ProtectedPathState, opened: ProtectedFileBackup | null): CommandRecord {
    const own = ownName();
    if (this.directory === null || own === null) return NO_RECORD;
    const path = join(this.directory, `${own}-${newId()}`);
    const record: Record<string, unknown> = {};
    try {
      mkdirSync(this.directory, { recursive: true, mode: 0o700 });
      const names = [...present].map(([directory, there]) => [directory, [...there]]);
      const before = opened === null ? null : serializeBackup(opened);
      Object.assign(record, { missing, present: names, opened: before });
      writeRecord(path, record);
    } catch (thrown) {
      if (systemErrorCode(thrown) === undefined) throw thrown;
      return NO_RECORD;
    }
    const timer = setInterval(() => touch(path), TOUCH_MS);
    timer.unref();
    return {
      accept: (files) => {
        try {
          writeRecord(path, { ...record, accepted: [...files] });
        } catch (thrown) {
          // The disk is full, or somebody removed the record. Its remaining content is still valid.
          if (systemErrorCode(thrown) === undefined) throw thrown;
        }
      },
      remove: () => {
        clearInterval(timer);
        rmSync(path, { force: true });
      },
    };
  }

  /** Quarantines, below `keepIn`, the entries that commands of killed processes have created. */
  sweep(keepIn: string | null): readonly QuarantinedEntry[] {
    const { directory } = this;
    if (directory === null) return [];
    return directoryNames(directory).flatMap((name) => {
      const [, pid, startTime] = RECORD.exec(name) ?? [];
      if (pid === undefined || String(readStartTime(Number(pid))) === startTime) return [];
      const path = join(directory, name);
      const removed = sweepRecord(path, keepIn);
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

function sweepRecord(path: string, keepIn: string | null): readonly QuarantinedEntry[] {
  const record = readRecord(path);
  const lastSign = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  if (record === null || lastSign === undefined) return [];
  const accepted = new Map(pairs(record['accepted']));
  const isOfCommand = (entry: string): boolean =>
    (lstatIfPresent(entry)?.ctimeMs ?? Infinity) <= lastSign + TOLERANCE_MS;
  const opened = parseBackup(record['opened'], keepIn)?.restoreAll(isOfCommand);
  const entries = new NewEntries(placesOf(record), () => Promise.resolve(new Set()), keepIn);
  entries.accept(accepted);
  return [...(opened?.removed ?? []), ...entries.settleNow(isOfCommand)];
}

/** Returns null for an incomplete record: its owner was killed while writing it, before the command began. */
function readRecord(path: string): JsonObject | null {
  const value = parseJsonLine(readTextIfPresent(path) ?? '');
  return isJsonObject(value) ? value : null;
}

function placesOf({ missing, present }: Readonly<Record<string, unknown>>): ProtectedPathState {
  return {
    missing: strings(missing),
    present: new Map(
      (Array.isArray(present) ? present : []).flatMap((pair) => {
        const [directory, names] = Array.isArray(pair) ? pair : [];
        return typeof directory === 'string' ? [[directory, new Set(strings(names))]] : [];
      }),
    ),
  };
}

function pairs(value: unknown): readonly (readonly [string, number])[] {
  return (Array.isArray(value) ? value : []).flatMap((pair) => {
    const [path, time] = Array.isArray(pair) ? pair : [];
    return typeof path === 'string' && typeof time === 'number' ? [[path, time] as const] : [];
  });
}

function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

function touch(path: string): void {
  const now = new Date();
  try {
    utimesSync(path, now, now);
  } catch (thrown) {
    // Somebody removed the record, or the disk cannot be written to any more.
    if (systemErrorCode(thrown) === undefined) throw thrown;
  }
}

let own: string | null | undefined;

/** Returns the beginning of the names of this process's records; null without /proc. */
function ownName(): string | null {
  if (own === undefined) {
    const startTime = readStartTime(process.pid);
    own = startTime === undefined ? null : `${process.pid}-${startTime}`;
  }
  return own;
}

/** Converts a backup to JSON data from which another process can restore the files. */
function serializeBackup(opened: ProtectedFileBackup): unknown {
  const files = [...opened.files()].map(({ path, kind, mode, content }) => {
    return { path, kind, mode, content: content.toString('base64') };
  });
  return { places: opened.paths, files };
}

/** Reads a backup from a record; null if there is none. `directory`: the directory for quarantined files. */
function parseBackup(value: unknown, directory: string | null): ProtectedFileBackup | null {
  if (!isJsonObject(value) || !isJsonObject(value['places'])) return null;
  const { trees, configurations, links } = value['places'];
  const places = {
    trees: strings(trees),
    configurations: strings(configurations),
    links: strings(links),
  };
  const files = Array.isArray(value['files']) ? value['files'].flatMap(fileOf) : [];
  return new ProtectedFileBackup(
    places,
    new Map(files.map((file) => [file.path, file])),
    directory,
  );
}

function fileOf(value: unknown): readonly EntryContent[] {
  if (!isJsonObject(value)) return [];
  const { path, kind, mode, content } = value;
  const isFile =
    typeof path === 'string' && typeof mode === 'number' && typeof content === 'string';
  if (!isFile || (kind !== 'file' && kind !== 'link')) return [];
  return [{ path, kind, mode, content: Buffer.from(content, 'base64') }];
}
