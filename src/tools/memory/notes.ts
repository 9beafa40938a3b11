import { isUtf8 } from 'node:buffer';
import { closeSync, lstatSync, readSync, type BigIntStats } from 'node:fs';
import { MusterError } from '../../base/errors.ts';
import type { MemoryLocation, MemoryPort } from '../../protocol/memory.ts';
import { firstDirectoryNames } from '../../sys/files/directory-names.ts';
import { withHeldDirectory, openFileInRoots } from '../../sys/files/open-in-roots.ts';
import { resolveInRoots } from '../../sys/files/real-path.ts';
import { INDEX_NAME, summarizeNote, updateIndex } from './index-file.ts';
import { DIRECTORY_BYTES } from './memory-limits.ts';
import { isNoteName } from './note-names.ts';
import type { ToolContext } from '../../protocol/tool.ts';

/** The part of a note from which its line in the index is made. */
const SUMMARY_BYTES = 4_096;

/** A note in a memory directory. */
export interface Note {
  readonly name: string;
  readonly bytes: number;
}

/** The content of a memory directory. */
export interface Listing {
  /** Sorted by name, without the index. */
  readonly notes: readonly Note[];
  readonly hasIndex: boolean;
  /** Names in the directory that are not notes: directories, links, and files with other names. */
  readonly others: readonly string[];
  /** The size of the notes and the index together. */
  readonly bytes: number;
}

const EMPTY_LISTING: Listing = { notes: [], hasIndex: false, others: [], bytes: 0 };

/** Lists the notes that are in a directory now. Throws MusterError where the directory is reached through a link. */
export function listNotes(place: MemoryLocation): Listing {
  if (!memoryExists(place)) return EMPTY_LISTING;
  return withHeldDirectory(place.directory, { roots: [place.directory] }, (directory) => {
    const notes: Note[] = [];
    const others: string[] = [];
    let hasIndex = false;
    let bytes = 0;
    for (const name of firstDirectoryNames(directory.at('.')).toSorted()) {
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

/** Whether the directory exists. Throws PERMISSION_DENIED where it is reached through a link. */
export function memoryExists({ directory, base }: MemoryLocation): boolean {
  const { real, exists, problem } = resolveInRoots(directory, [base]);
  if (problem === undefined && real === directory) return exists;
  throw new MusterError(
    'PERMISSION_DENIED',
    `${directory} is reached through a link, or through something that is not a directory, and no notes are kept there. Put a directory in its place`,
  );
}

/** The beginning of a file in a memory directory. */
export interface NoteRead {
  readonly bytes: Buffer;
  /** The stats of the open file, which may be longer than `bytes`. */
  readonly stats: BigIntStats;
}

/** Reads the first bytes of a note. Throws MusterError NOT_FOUND, and PERMISSION_DENIED for a link that leads out. */
export function readNoteFile(
  { directory }: MemoryLocation,
  name: string,
  maxBytes: number,
): NoteRead {
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

/** The index of a memory directory, updated and as stored. */
export interface CurrentIndex {
  /** The text with a line for every note that is there. */
  readonly text: string;
  /** The file on the disk; null when there is none. */
  readonly stored: NoteRead | null;
  /** Whether it can be written: there is no file of that name yet, or one with UTF-8 text. */
  readonly mayBeWritten: boolean;
}

/** A note whose content has changed. */
export interface ChangedNote {
  readonly name: string;
  /** The summary that the index made from its content before. */
  readonly before: string;
}

/** Reads the index of a directory and updates its text. Only the beginning of a huge index is read. */
export function readIndex(
  place: MemoryLocation,
  listing: Listing,
  changed?: ChangedNote,
): CurrentIndex {
  const stored = listing.hasIndex ? readNoteFile(place, INDEX_NAME, DIRECTORY_BYTES) : null;
  const text = syncIndex(place, listing, {
    text: stored?.bytes.toString('utf8') ?? '',
    changed,
  });
  const isComplete = stored === null || BigInt(stored.bytes.length) === stored.stats.size;
  const isText = stored === null || isUtf8(stored.bytes);
  const isFree = !listing.others.includes(INDEX_NAME);
  return { stored, text, mayBeWritten: isComplete && isText && isFree };
}

/** Updates the text of an index for the notes that are there. */
export function syncIndex(
  place: MemoryLocation,
  { notes }: Listing,
  { text, changed }: { readonly text: string; readonly changed?: ChangedNote | undefined },
): string {
  return updateIndex({
    text,
    names: notes.map(({ name }) => name),
    summaryOf: (name) => summaryOfFile(place, name),
    ...(changed === undefined ? {} : { changed }),
  });
}

function summaryOfFile(place: MemoryLocation, name: string): string {
  try {
    return summarizeNote(readNoteFile(place, name, SUMMARY_BYTES).bytes.toString('utf8'));
  } catch (thrown) {
    // A note that cannot be read, or has just been deleted, must not hide the others.
    if (thrown instanceof MusterError) return '';
    throw thrown;
  }
}

/** A call of a tool for one note. */
export interface NoteCall {
  readonly place: MemoryLocation;
  /** The name of its file. */
  readonly name: string;
  readonly context: ToolContext;
}

/** Returns the memory of a task. Throws NOT_FOUND where none is kept. */
export function requireMemory({ memory }: Pick<ToolContext, 'memory'>): MemoryPort {
  if (memory !== undefined) return memory;
  throw new MusterError('NOT_FOUND', 'no memory is kept here');
}

/** Names a memory for a message: `project memory`, `own project memory`. */
export function describeMemory({ scope, owner }: MemoryLocation): string {
  return owner === null ? `${scope} memory` : `own ${scope} memory`;
}
