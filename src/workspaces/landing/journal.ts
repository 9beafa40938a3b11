import * as fs from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { MusterError, systemErrorCode } from '../../base/errors.ts';
import { isJsonObject } from '../../base/json.ts';
import { toFileError } from '../../sys/files/file-errors.ts';
import { directoryNames } from '../../sys/files/path-lookup.ts';
import { syncDirectory } from '../../sys/files/write-file.ts';
import type { PathDifference, PathState } from '../difference.ts';
import type { GitChange } from './git-change.ts';

/** A state whose content is in the file of contents, from `offset` on. */
export type StoredState =
  | {
      readonly kind: 'file';
      readonly executable: boolean;
      /** The permission bits, or null if the umask sets them. */
      readonly mode: number | null;
      readonly offset: number;
      readonly length: number;
    }
  | { readonly kind: 'link'; readonly target: string }
  | null;

/** A path that a landing changes, with both states. A renamed file has two paths. */
export interface JournalWrite {
  readonly path: string;
  /** The old path of the file that gets this path, or null. */
  readonly from: string | null;
  readonly before: StoredState;
  readonly after: StoredState;
}

/** Everything that is needed to finish a landing, to take it back, or to undo it later. */
export interface LandingJournal {
  readonly version: 1;
  readonly id: string;
  readonly kind: 'apply' | 'undo';
  /** The number of the landing that this one undoes, or null. */
  readonly undoes: number | null;
  /** The number of the undone landing whose changes this one lands again. Default: none. */
  readonly repeats?: number;
  readonly source: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly writes: readonly JournalWrite[];
  /** The directories that the landing creates, the highest first. */
  readonly createdDirectories: readonly string[];
  /** The directories that the landing may remove when they are empty, or null for each that it empties. */
  readonly removableDirectories: readonly string[] | null;
  /** The permission bits of directories that may have to be created again. */
  readonly directoryModes: readonly (readonly [path: string, mode: number])[];
  readonly git: GitChange | null;
}

const JOURNAL_FILE = 'journal.json';
const CONTENTS_FILE = 'contents';

/** Returns the directory of a landing that is not finished. `directory` is that of the workspace. */
export function unfinishedDirectory(directory: string): string {
  return join(directory, 'landing');
}

/** Returns the directory of the finished landings of a workspace, which are numbered from 1. */
export function finishedDirectory(directory: string): string {
  return join(directory, 'landings');
}

/** Returns the directory of a finished landing of a workspace. */
export function numberedDirectory(directory: string, number: number): string {
  return join(finishedDirectory(directory), String(number));
}

/** Lists the numbers of the finished landings of a workspace, the oldest first. */
export function listLandingNumbers(directory: string): readonly number[] {
  return directoryNames(finishedDirectory(directory))
    .filter((name) => /^[1-9]\d*$/.test(name))
    .map(Number)
    .toSorted((a, b) => a - b);
}

/**
 * Writes the journal of a landing that is about to start: first beside its place and synced, then renamed, so that an
 * incomplete journal is never seen. Throws MusterError.
 */
export async function writeJournal(
  directory: string,
  journal: LandingJournal,
  contents: readonly Buffer[],
): Promise<void> {
  const draft = `${unfinishedDirectory(directory)}.new`;
  try {
    fs.rmSync(draft, { recursive: true, force: true });
    fs.mkdirSync(draft, { mode: 0o700 });
    await writeSynced(join(draft, CONTENTS_FILE), contents);
    await writeSynced(join(draft, JOURNAL_FILE), [Buffer.from(JSON.stringify(journal))]);
    await syncDirectory(draft);
    fs.renameSync(draft, unfinishedDirectory(directory));
    await syncDirectory(directory);
  } catch (thrown) {
    fs.rmSync(draft, { recursive: true, force: true });
    throw toFileError(draft, thrown);
  }
}

async function writeSynced(path: string, parts: readonly Buffer[]): Promise<void> {
  await using file: FileHandle = await open(path, 'wx', 0o600);
  // oxlint-disable-next-line no-await-in-loop -- the parts follow each other
  for (const part of parts) await file.appendFile(part);
  await file.sync();
}

/** Reads the journal in a directory; null if there is none. Throws MusterError if it is damaged. */
export function readJournal(directory: string): LandingJournal | null {
  const path = join(directory, JOURNAL_FILE);
  let text: string;
  try {
    text = fs.readFileSync(path, 'utf8');
  } catch (thrown) {
    if (systemErrorCode(thrown) === 'ENOENT') return null;
    throw toFileError(path, thrown);
  }
  const value: unknown = parseOrNull(text);
  if (isJournal(value)) return value;
  const message = `${path} is no journal of a landing that this version can read: keep the directory, compare the listed files with its contents, and remove it by hand`;
  throw new MusterError('INTERNAL_ERROR', message);
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return null;
    throw thrown;
  }
}

/** Checks the version. Only Muster writes the file, at once and synced, so the other fields follow from it. */
function isJournal(value: unknown): value is LandingJournal {
  return isJsonObject(value) && value['version'] === 1 && typeof value['source'] === 'string';
}

/** Reads the contents of a journal. */
export interface JournalContents extends Disposable {
  read(state: StoredState): PathState;
}

/** Opens the contents of the journal in a directory. Throws MusterError. */
export function openJournalContents(directory: string): JournalContents {
  const path = join(directory, CONTENTS_FILE);
  let fd: number;
  try {
    fd = fs.openSync(path, 'r');
  } catch (thrown) {
    throw toFileError(path, thrown);
  }
  return {
    read(state) {
      if (state?.kind !== 'file') return state;
      const bytes = Buffer.alloc(state.length);
      const read = fs.readSync(fd, bytes, 0, state.length, state.offset);
      if (read === state.length) {
        return { kind: 'file', executable: state.executable, bytes };
      }
      throw new MusterError('INTERNAL_ERROR', `${path} is shorter than its journal says`);
    },
    [Symbol.dispose]: () => fs.closeSync(fd),
  };
}

/** Returns the changes that a landing has made, as differences of the source. */
export function listLandedChanges(
  journal: LandingJournal,
  contents: JournalContents,
): readonly PathDifference[] {
  const { writes } = journal;
  const states = new Map(writes.map((write) => [write.path, write.before]));
  const oldPaths = new Set(writes.map(({ from }) => from));
  return writes.flatMap(({ path, from, before, after }): PathDifference[] => {
    if (after === null && oldPaths.has(path)) return [];
    const start = from !== null ? states.get(from) : oldPaths.has(path) ? null : before;
    return [
      {
        path,
        ...(from === null ? {} : { from }),
        before: contents.read(start ?? null),
        after: contents.read(after),
      },
    ];
  });
}
