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

/**
 * The file that lists the notes of a directory, with one line for each note. Muster does not change other lines in it.
 */
export const INDEX_NAME = 'MEMORY.md';
const HEADING = '# Memory';

/** The maximum number of code points of the summary in a line. */
const MAX_SUMMARY_LENGTH = 120;

/**
 * Matches the line of a note: `- [NAME.md](NAME.md): …`. The text in the brackets and after the link may be anything.
 */
const NOTE_LINE = /^\s*[-*] \[[^\]]*\]\(([^()/\\]+\.md)\)/;

/** The data from which an index is updated. */
interface IndexUpdate {
  /** The present content of the index, or an empty text if it does not exist. */
  readonly text: string;
  /** The names of the existing notes, in the order in which new lines are added. */
  readonly names: readonly string[];
  /** Returns the summary of a note for its line. */
  summaryOf(name: string): string;
  /**
   * A note whose summary has changed, with the summary before the change. Its line gets the new summary, unless a
   * person has reworded the line.
   */
  readonly changed?: { readonly name: string; readonly before: string };
}

/**
 * Returns the index with one line for each note, and without the lines of notes that do not exist any more. Correct
 * lines stay unchanged. New lines are added after the last line of a note, or else at the end of the text. A second
 * update changes nothing.
 */
export function updateIndex({ text, names, summaryOf, changed }: IndexUpdate): string {
  const unlisted = new Set(names);
  // New lines end with `\r` if the file has CRLF line ends.
  const end = text.includes('\r\n') ? '\r' : '';
  const lines: string[] = [];
  let afterLastNote = -1;
  for (const line of text.split('\n')) {
    const name = NOTE_LINE.exec(line)?.[1];
    const isListed = name !== undefined && name !== INDEX_NAME;
    if (isListed && !unlisted.delete(name)) continue;
    const isGenerated =
      isListed && changed?.name === name && isGeneratedLine(name, changed.before, line);
    lines.push(isGenerated ? `${formatIndexLine(name, summaryOf(name))}${end}` : line);
    if (isListed) afterLastNote = lines.length;
  }
  const added = names.filter((name) => unlisted.has(name));
  if (added.length === 0) return lines.join('\n');
  const last = lines.pop() ?? '';
  if (last !== '') lines.push(`${last}${end}`);
  if (lines.length === 0) lines.push(`${HEADING}${end}`);
  if (afterLastNote === -1 && lines.at(-1)?.trim() !== '') lines.push(end);
  const at = afterLastNote === -1 ? lines.length : afterLastNote;
  lines.splice(at, 0, ...added.map((name) => `${formatIndexLine(name, summaryOf(name))}${end}`));
  return [...lines, ''].join('\n');
}

/** Returns whether Muster wrote this line for a note with this summary. */
function isGeneratedLine(name: string, summary: string, line: string): boolean {
  return line.trimEnd() === formatIndexLine(name, summary);
}

function formatIndexLine(name: string, summary: string): string {
  return summary === '' ? `- [${name}](${name})` : `- [${name}](${name}): ${summary}`;
}

/** Summarizes a note for the index: its first line that is not empty, without markup. */
export function summarizeNote(text: string): string {
  const line = text
    .split('\n', 50)
    .map((each) => collapseWhitespace(each.replace(/^[\s#>*-]+/, '')))
    .find((each) => each !== '');
  return truncate(sanitizeLine(line ?? ''), MAX_SUMMARY_LENGTH).trimEnd();
}

const NOTE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,95}\.md$/;
const MAX_SHOWN_LENGTH = 100;

/** Returns whether a file with this name is a note. */
function isNoteName(name: string): boolean {
  return NOTE_NAME.test(name);
}

/** Returns the file name of a note. The text may omit `.md`. Throws INVALID_PARAM for a name that no note can have. */
export function parseNoteName(text: string): string {
  const name = text.toLowerCase().endsWith('.md') ? `${text.slice(0, -3)}.md` : `${text}.md`;
  if (name.toLowerCase() === INDEX_NAME.toLowerCase()) return INDEX_NAME;
  if (isNoteName(name)) return name;
  const message = `file: ${JSON.stringify(text.slice(0, MAX_SHOWN_LENGTH))} is not the name of a note; valid: letters, digits, -, _ and . (no directory), at most 99 characters, as in build.md`;
  throw new MusterError('INVALID_PARAM', message);
}

/**
 * Throws INVALID_PARAM if the name belongs to something that is not a note, or if it differs only by case from another
 * name. Some file systems treat such names as the same.
 */
export function requireFreeName(
  name: string,
  existing: {
    readonly notes: readonly { readonly name: string }[];
    readonly others: readonly string[];
  },
): void {
  if (existing.others.includes(name)) {
    const message = `file: ${name} is a link, or not a regular file: choose another name`;
    throw new MusterError('INVALID_PARAM', message);
  }
  const names = [...existing.notes.map((note) => note.name), ...existing.others];
  const other = names.find((each) => each !== name && foldFileName(each) === foldFileName(name));
  if (other === undefined) return;
  const message = `file: there is ${JSON.stringify(other)}, which differs from ${name} by case alone: use that name, or another one`;
  throw new MusterError('INVALID_PARAM', message);
}

/** The maximum size that a call may give a note, in bytes. */
const MAX_NOTE_BYTES = 65_536;
/** The maximum size of all notes of a directory together, in bytes. */
export const DIRECTORY_BYTES = 1_048_576;
/** The maximum number of notes of a directory, not counting its index. */
const MAX_NOTES = 200;

/** The sizes of a note in bytes before and after a change. For a new note, `before` is null. */
interface NoteSizes {
  readonly name: string;
  readonly before: number | null;
  readonly after: number;
}

/**
 * Throws LIMIT_EXCEEDED, which names the limit, if a change would exceed a limit. A change that does not make the note
 * longer is always allowed.
 */
export function requireRoom(
  { name, before, after }: NoteSizes,
  { notes, bytes }: { readonly notes: readonly unknown[]; readonly bytes: number },
): void {
  const noteProblem = `${name} would have ${after} bytes, and memory_note_bytes = ${MAX_NOTE_BYTES} is the limit: put it into several notes`;
  const totalBytes = bytes - (before ?? 0) + after;
  const isLonger = before === null || after > before;
  if (isLonger && after > MAX_NOTE_BYTES) throw new MusterError('LIMIT_EXCEEDED', noteProblem);
  if (isLonger && totalBytes > DIRECTORY_BYTES) {
    const message = `all notes here would have ${totalBytes} bytes, and memory_bytes = ${DIRECTORY_BYTES} is the limit: delete or shorten some`;
    throw new MusterError('LIMIT_EXCEEDED', message);
  }
  if (before === null && name !== INDEX_NAME && notes.length >= MAX_NOTES) {
    const message = `there are ${notes.length} notes, and memory_notes = ${MAX_NOTES} is the limit: delete some, or add to one`;
    throw new MusterError('LIMIT_EXCEEDED', message);
  }
}

/** The length of the beginning of a note from which its summary is taken. */
const SUMMARY_BYTES = 4_096;

/** A note in a memory directory. */
export interface Note {
  readonly name: string;
  readonly bytes: number;
}

/** The content of a memory directory. */
export interface Listing {
  /** The notes, sorted by name, without the index. */
  readonly notes: readonly Note[];
  readonly hasIndex: boolean;
  /** The names of entries that are not notes: directories, links, and files with other names. */
  readonly others: readonly string[];
  /** The total size of the notes and the index. */
  readonly bytes: number;
}

const EMPTY_LISTING: Listing = { notes: [], hasIndex: false, others: [], bytes: 0 };

/** Lists the notes of a directory. Throws MusterError if the directory is reached through a link. */
export function listNotes(location: MemoryLocation): Listing {
  if (!memoryExists(location)) return EMPTY_LISTING;
  return withHeldDirectory(location.directory, { roots: [location.directory] }, (directory) => {
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

/** Returns whether the directory exists. Throws PERMISSION_DENIED if the directory is reached through a link. */
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
export function readNoteFile(location: MemoryLocation, name: string, maxBytes: number): NoteRead {
  const { directory } = location;
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
  /** The text with a line for every existing note. */
  readonly text: string;
  /** The file on disk, or null if there is none. */
  readonly stored: NoteRead | null;
  /** Whether the index can be written. It can if the file does not exist yet or is a UTF-8 text. */
  readonly mayBeWritten: boolean;
}

/** A note whose content has changed. */
export interface ChangedNote {
  readonly name: string;
  /** The summary of the content before the change. */
  readonly before: string;
}

/**
 * Reads the index of a directory, and updates its text without writing it. Only the beginning of a huge index is read.
 */
export function readIndex(
  location: MemoryLocation,
  listing: Listing,
  changed?: ChangedNote,
): CurrentIndex {
  const stored = listing.hasIndex ? readNoteFile(location, INDEX_NAME, DIRECTORY_BYTES) : null;
  const text = syncIndex(location, listing, {
    text: stored?.bytes.toString('utf8') ?? '',
    changed,
  });
  const isComplete = stored === null || BigInt(stored.bytes.length) === stored.stats.size;
  const isText = stored === null || isUtf8(stored.bytes);
  const isFree = !listing.others.includes(INDEX_NAME);
  return { stored, text, mayBeWritten: isComplete && isText && isFree };
}

/** Updates the text of an index to list the existing notes. */
export function syncIndex(
  location: MemoryLocation,
  { notes }: Listing,
  { text, changed }: { readonly text: string; readonly changed?: ChangedNote | undefined },
): string {
  return updateIndex({
    text,
    names: notes.map(({ name }) => name),
    summaryOf: (name) => readSummary(location, name),
    ...(changed === undefined ? {} : { changed }),
  });
}

function readSummary(location: MemoryLocation, name: string): string {
  try {
    return summarizeNote(readNoteFile(location, name, SUMMARY_BYTES).bytes.toString('utf8'));
  } catch (thrown) {
    // A note that cannot be read, or has just been deleted, must not hide the others.
    if (thrown instanceof MusterError) return '';
    throw thrown;
  }
}

/** A call of a memory tool for one note. */
export interface NoteCall {
  readonly location: MemoryLocation;
  /** The name of the note's file. */
  readonly name: string;
  readonly context: ToolContext;
}

/** Returns the memory of a task. Throws NOT_FOUND if the task has no memory. */
export function requireMemory({ memory }: Pick<ToolContext, 'memory'>): MemoryPort {
  if (memory !== undefined) return memory;
  throw new MusterError('NOT_FOUND', 'no memory is kept here');
}

/** Names a memory for a message: `project memory`, `own project memory`. */
export function describeMemory({ scope, owner }: MemoryLocation): string {
  return owner === null ? `${scope} memory` : `own ${scope} memory`;
}
