import { isUtf8 } from 'node:buffer';
import { closeSync, lstatSync, readSync, type BigIntStats } from 'node:fs';
import { MusterError } from '../../base/errors.ts';
import type { MemoryPlace } from '../../protocol/memory.ts';
import { namesIn } from '../../sys/directory-names.ts';
import { inDirectory, openFileInRoots } from '../../sys/open-in-roots.ts';
import { resolveInRoots } from '../../sys/real-path.ts';
import { INDEX_NAME, summaryOf, trueIndex } from './index-file.ts';
import { DIRECTORY_BYTES } from './memory-limits.ts';
import { isNoteName } from './note-names.ts';

/** As much of a note as its line in the index is made from. */
const SUMMARY_BYTES = 4_096;

export interface Note {
  readonly name: string;
  readonly bytes: number;
}

export interface Listing {
  /** By name, the index not among them. */
  readonly notes: readonly Note[];
  readonly hasIndex: boolean;
  /** Names in the directory that are no notes: of directories, links, and files of other names. */
  readonly others: readonly string[];
  /** Of the notes and the index. */
  readonly bytes: number;
}

const NOTHING: Listing = { notes: [], hasIndex: false, others: [], bytes: 0 };

/** What is there now. Throws MusterError where a link leads to the directory. */
export function listNotes(place: MemoryPlace): Listing {
  if (!isThere(place)) return NOTHING;
  return inDirectory(place.directory, { roots: [place.directory] }, (directory) => {
    const notes: Note[] = [];
    const others: string[] = [];
    let hasIndex = false;
    let bytes = 0;
    for (const name of namesIn(directory.at('.')).toSorted()) {
      if (name.startsWith('.')) continue;
      const stats = lstatSync(directory.at(name), { throwIfNoEntry: false });
      if (stats?.isFile() !== true || !isNoteName(name)) {
        if (stats !== undefined) others.push(name);
        continue;
      }
      bytes += stats.size;
      if (name === INDEX_NAME) hasIndex = true;
      else notes.push({ name, bytes: stats.size });
    }
    return { notes, hasIndex, others, bytes };
  });
}

/** Whether the directory is there, by no link. */
export function isThere({ directory, base }: MemoryPlace): boolean {
  const { real, exists, problem } = resolveInRoots(directory, [base]);
  if (problem === undefined && real === directory) return exists;
  throw new MusterError(
    'PERMISSION_DENIED',
    `${directory} is reached through a link, or through what is no directory: no notes are kept there. Put a directory in its place`,
  );
}

export interface NoteRead {
  readonly bytes: Buffer;
  /** Of the open file, which may be longer than what was read. */
  readonly stats: BigIntStats;
}

/** The first bytes of a note. Throws MusterError: `NOT_FOUND`, `PERMISSION_DENIED` for a link out. */
export function readNote({ directory }: MemoryPlace, name: string, maxBytes: number): NoteRead {
  const { fd, stats } = openFileInRoots(`${directory}/${name}`, { roots: [directory] });
  try {
    const wanted = Math.min(Number(stats.size), maxBytes);
    const bytes = Buffer.alloc(wanted);
    let length = 0;
    for (let read = -1; read !== 0 && length < wanted; length += read) {
      read = readSync(fd, bytes, length, wanted - length, length);
    }
    return { bytes: bytes.subarray(0, length), stats };
  } finally {
    closeSync(fd);
  }
}

export interface IndexNow {
  /** As it is true of what is there. */
  readonly text: string;
  /** As it stands on the disk; null: it is not there. */
  readonly stored: NoteRead | null;
  /** Whether it can be made true on the disk: it is not there, or a file of UTF-8 text. */
  readonly mayBeWritten: boolean;
}

/** A note whose content has changed: what the index said of it by itself before. */
export interface ChangedNote {
  readonly name: string;
  readonly before: string;
}

/** What the index of a directory says. Of a huge one only the beginning is looked at. */
export function readIndex(place: MemoryPlace, listing: Listing, changed?: ChangedNote): IndexNow {
  const stored = listing.hasIndex ? readNote(place, INDEX_NAME, DIRECTORY_BYTES) : null;
  const text = trueText(place, listing, { text: stored?.bytes.toString('utf8') ?? '', changed });
  const isWhole = stored === null || BigInt(stored.bytes.length) === stored.stats.size;
  const isText = stored === null || isUtf8(stored.bytes);
  const isFree = !listing.others.includes(INDEX_NAME);
  return { stored, text, mayBeWritten: isWhole && isText && isFree };
}

/** A text as the index, true of what is there. */
export function trueText(
  place: MemoryPlace,
  { notes }: Listing,
  { text, changed }: { readonly text: string; readonly changed?: ChangedNote | undefined },
): string {
  return trueIndex({
    text,
    names: notes.map(({ name }) => name),
    summaryOf: (name) => summaryOfFile(place, name),
    ...(changed === undefined ? {} : { changed }),
  });
}

function summaryOfFile(place: MemoryPlace, name: string): string {
  try {
    return summaryOf(readNote(place, name, SUMMARY_BYTES).bytes.toString('utf8'));
  } catch (thrown) {
    // One that can't be read, or is just gone, is no reason to be without the others.
    if (thrown instanceof MusterError) return '';
    throw thrown;
  }
}
