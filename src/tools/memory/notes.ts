import { isUtf8 } from 'node:buffer';
import { closeSync, lstatSync, readSync, type BigIntStats } from 'node:fs';
import { atScopeEnd } from '../../base/at-scope-end.ts';
import { MusterError } from '../../base/errors.ts';
import { sanitizeLine } from '../../base/terminal-text.ts';
import { collapseWhitespace, truncate } from '../../base/text.ts';
import type { MemoryLocation, MemoryPort } from '../../protocol/memory.ts';
import type { ToolContext } from '../../protocol/tool.ts';
import { firstDirectoryNames } from '../../sys/files/directory-names.ts';
import { foldFileName } from '../../sys/files/folded-name.ts';
import { withHeldDirectory, openFileInRoots } from '../../sys/files/open-in-roots.ts';
import { resolveInRoots } from '../../sys/files/real-path.ts';

/** The file that lists the notes of a directory, one line each. Muster leaves all its other lines alone. */
export const INDEX_NAME = 'MEMORY.md';
const HEADING = '# Memory';

/** The most code points of the summary in a line. */
const SUMMARY_LENGTH = 120;

/** Matches `- [NAME.md](NAME.md): …`. The text in the brackets and after them may be anything. */
const LINE = /^\s*[-*] \[[^\]]*\]\(([^()/\\]+\.md)\)/;

/** The data from which an index is updated. */
interface IndexUpdate {
  /** The content of the file now; empty when there is none. */
  readonly text: string;
  /** The notes that are there, in the order of their new lines. */
  readonly names: readonly string[];
  /** Returns the summary of a note for its line. */
  summaryOf(name: string): string;
  /** A note whose summary has changed. Its line gets the new one, unless a person has reworded the line. */
  readonly changed?: { readonly name: string; readonly before: string };
}

/**
 * Returns the index with one line for each note and none for notes that are gone. Correct lines stay as and where
 * they are; new lines follow the last one, or the end of the text. Updating twice changes nothing more.
 */
export function updateIndex({ text, names, summaryOf, changed }: IndexUpdate): string {
  const left = new Set(names);
  // Lines keep the `\r` at their end where they have one.
  const end = text.includes('\r\n') ? '\r' : '';
  const lines: string[] = [];
  let next = -1;
  for (const line of text.split('\n')) {
    const name = LINE.exec(line)?.[1];
    const isListed = name !== undefined && name !== INDEX_NAME;
    if (isListed && !left.delete(name)) continue;
    const isOurs = isListed && changed?.name === name && isLineOf(name, changed.before, line);
    lines.push(isOurs ? `${indexLine(name, summaryOf(name))}${end}` : line);
    if (isListed) next = lines.length;
  }
  const added = names.filter((name) => left.has(name));
  if (added.length === 0) return lines.join('\n');
  const last = lines.pop() ?? '';
  if (last !== '') lines.push(`${last}${end}`);
  if (lines.length === 0) lines.push(`${HEADING}${end}`);
  if (next === -1 && lines.at(-1)?.trim() !== '') lines.push(end);
  const at = next === -1 ? lines.length : next;
  lines.splice(at, 0, ...added.map((name) => `${indexLine(name, summaryOf(name))}${end}`));
  return [...lines, ''].join('\n');
}

/** Whether a line is the one that Muster wrote for a note with this summary. */
function isLineOf(name: string, summary: string, line: string): boolean {
  return line.trimEnd() === indexLine(name, summary);
}

function indexLine(name: string, summary: string): string {
  return summary === '' ? `- [${name}](${name})` : `- [${name}](${name}): ${summary}`;
}

/** Summarizes a note for the index: its first line that is not empty, without markup. */
export function summarizeNote(text: string): string {
  const line = text
    .split('\n', 50)
    .map((each) => collapseWhitespace(each.replace(/^[\s#>*-]+/, '')))
    .find((each) => each !== '');
  return truncate(sanitizeLine(line ?? ''), SUMMARY_LENGTH).trimEnd();
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,95}\.md$/;
const SHOWN = 100;

/** Whether a file of this name is a note, whoever made it. */
function isNoteName(name: string): boolean {
  return NAME.test(name);
}

/** Returns the file name of a note; `.md` may be left out. Throws INVALID_PARAM for a name that no note can have. */
export function parseNoteName(text: string): string {
  const name = text.toLowerCase().endsWith('.md') ? `${text.slice(0, -3)}.md` : `${text}.md`;
  if (name.toLowerCase() === INDEX_NAME.toLowerCase()) return INDEX_NAME;
  if (isNoteName(name)) return name;
  const message = `file: ${JSON.stringify(text.slice(0, SHOWN))} is not the name of a note; valid: letters, digits, -, _ and . (no directory), at most 99 characters, as in build.md`;
  throw new MusterError('INVALID_PARAM', message);
}

/**
 * Throws INVALID_PARAM where the name belongs to something that is not a note, or differs only by case from
 * another name, which some file systems take for the same.
 */
export function requireFreeName(
  name: string,
  there: {
    readonly notes: readonly { readonly name: string }[];
    readonly others: readonly string[];
  },
): void {
  if (there.others.includes(name)) {
    const message = `file: ${name} is a link, or not a regular file: choose another name`;
    throw new MusterError('INVALID_PARAM', message);
  }
  const names = [...there.notes.map((note) => note.name), ...there.others];
  const other = names.find((each) => each !== name && foldFileName(each) === foldFileName(name));
  if (other === undefined) return;
  const message = `file: there is ${JSON.stringify(other)}, which differs from ${name} by case alone: use that name, or another one`;
  throw new MusterError('INVALID_PARAM', message);
}

/** The largest size that a call may give a note, in bytes. */
const NOTE_BYTES = 65_536;
/** The largest size of all notes of a directory together, in bytes. */
export const DIRECTORY_BYTES = 1_048_576;
/** The maximum number of notes of a directory, not counting its index. */
const DIRECTORY_NOTES = 200;

/** The sizes of a note in bytes before and after a change; `before` is null for a new note. */
interface NoteSizes {
  readonly name: string;
  readonly before: number | null;
  readonly after: number;
}

/**
 * Throws LIMIT_EXCEEDED, naming the limit, for a change that would exceed one. A change that makes no note longer is
 * always allowed.
 */
export function requireRoom(
  { name, before, after }: NoteSizes,
  { notes, bytes }: { readonly notes: readonly unknown[]; readonly bytes: number },
): void {
  const noteProblem = `${name} would have ${after} bytes, and memory_note_bytes = ${NOTE_BYTES} is the limit: put it into several notes`;
  const all = bytes - (before ?? 0) + after;
  const isLonger = before === null || after > before;
  if (isLonger && after > NOTE_BYTES) throw new MusterError('LIMIT_EXCEEDED', noteProblem);
  if (isLonger && all > DIRECTORY_BYTES) {
    const message = `all notes here would have ${all} bytes, and memory_bytes = ${DIRECTORY_BYTES} is the limit: delete or shorten some`;
    throw new MusterError('LIMIT_EXCEEDED', message);
  }
  if (before === null && name !== INDEX_NAME && notes.length >= DIRECTORY_NOTES) {
    const message = `there are ${notes.length} notes, and memory_notes = ${DIRECTORY_NOTES} is the limit: delete some, or add to one`;
    throw new MusterError('LIMIT_EXCEEDED', message);
  }
}

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
  const message = `${directory} is reached through a link, or through something that is not a directory, and no notes are kept there. Put a directory in its place`;
  throw new MusterError('PERMISSION_DENIED', message);
}

/** The beginning of a file in a memory directory. */
export interface NoteRead {
  readonly bytes: Buffer;
  /** The stats of the open file, which may be longer than `bytes`. */
  readonly stats: BigIntStats;
}

/** Reads the first bytes of a note. Throws MusterError NOT_FOUND, and PERMISSION_DENIED for a link that leads out. */
export function readNoteFile(place: MemoryLocation, name: string, maxBytes: number): NoteRead {
  const { directory } = place;
  const { fd, stats } = openFileInRoots(`${directory}/${name}`, { roots: [directory] });
  using _close = atScopeEnd(() => closeSync(fd));
  const wanted = Math.min(Number(stats.size), maxBytes);
  const bytes = Buffer.alloc(wanted);
  let length = 0;
  for (let read = -1; read !== 0 && length < wanted; length += read) {
    read = readSync(fd, bytes, length, wanted - length, length);
  }
  return { bytes: bytes.subarray(0, length), stats };
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
  const text = syncIndex(place, listing, { text: stored?.bytes.toString('utf8') ?? '', changed });
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
