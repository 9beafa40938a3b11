import { chmodSync, existsSync, mkdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { MusterError, systemErrorCode } from '../../base/errors.ts';
import type { MemoryLocation, MemoryScope } from '../../protocol/memory.ts';
import { REDACTED } from '../../protocol/redaction.ts';
import type { FileChange, ToolContext } from '../../protocol/tool.ts';
import { toFileError } from '../../sys/files/file-errors.ts';
import { holdDirectory } from '../../sys/files/held-directory.ts';
import { withHeldDirectory } from '../../sys/files/open-in-roots.ts';
import { hashContent } from '../../sys/files/read-file.ts';
import { requireExpected, syncDirectory, writeFileInRoots } from '../../sys/files/write-file.ts';
import { permissionBits, addsRedactionMark } from '../shared/change-file.ts';
import { decodeForEdit, type DecodedFile } from '../shared/file-text.ts';
import {
  INDEX_NAME,
  summarizeNote,
  requireFreeName,
  DIRECTORY_BYTES,
  requireRoom,
  requireMemory,
  type NoteCall,
  memoryExists,
  listNotes,
  readIndex,
  readNoteFile,
  syncIndex,
  type ChangedNote,
  type NoteRead,
} from './notes.ts';

/**
 * The maximum number of attempts of a change. An attempt fails if a program that does not use the lock changes the file
 * at the same time.
 */
const MAX_ATTEMPTS = 5;
const PRIVATE_FILE_MODE = 0o600;
const PRIVATE_DIRECTORY_MODE = 0o700;

/** The content of a note before a change. */
export interface NoteBefore extends DecodedFile {
  /** A sentence that says why the task does not know this content, or null if it has read it. */
  readonly unreadReason: string | null;
}

/**
 * Computes the new content of a note, or null to delete the note. `before` is null if the note does not exist yet. To
 * change nothing, the function throws MusterError.
 */
export type EditNote = (before: NoteBefore | null) => string | null;

/** The result of changing a note. */
export interface NoteChange {
  readonly changes: readonly FileChange[];
  /** A sentence that says why the index could not be updated, or null if it was updated. */
  readonly indexProblem: string | null;
}

/**
 * Changes a note completely or not at all, and then updates the index, while holding the lock of the directory. If the
 * index cannot be written, or this process dies first, the next change repairs the index.
 */
export async function changeNote(call: NoteCall, decide: EditNote): Promise<NoteChange> {
  const { location, context } = call;
  prepareDirectory(location);
  return await requireMemory(context).runLocked(location.directory, async () => {
    const { change, changed } = await retryOnRace(() => changeOnce(call, decide));
    try {
      const index = await retryOnRace(() => writeIndex(call, changed));
      return { changes: [change, ...index], indexProblem: null };
    } catch (thrown) {
      // The note has been changed. If the call failed now, the task would make the change a second time.
      if (!(thrown instanceof MusterError)) throw thrown;
      return { changes: [change], indexProblem: thrown.message };
    }
  });
}

async function retryOnRace<T>(act: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await act();
    } catch (thrown) {
      const isRaced = thrown instanceof MusterError && thrown.retryable;
      if (!isRaced || attempt === MAX_ATTEMPTS) throw thrown;
    }
  }
}

/**
 * Creates the memory directory. A project's shared directory is an ordinary directory. Any other one can be opened only
 * by the user, and git ignores it.
 */
function prepareDirectory(location: MemoryLocation): void {
  const { base, directory, scope, top } = location;
  if (memoryExists(location)) return;
  try {
    const isFirst = !existsSync(top);
    if (scope === 'user') mkdirSync(base, { recursive: true, mode: 0o700 });
    const mode = scope === 'project' ? {} : { mode: PRIVATE_DIRECTORY_MODE };
    holdDirectory(base, directory, { create: true, ...mode }).close();
    if (!isFirst || scope === 'project') return;
    // The umask may have removed rights of the user as well.
    chmodSync(top, PRIVATE_DIRECTORY_MODE);
    if (scope === 'local') {
      writeFileSync(join(top, '.gitignore'), '*\n', { flag: 'wx', mode: PRIVATE_FILE_MODE });
    }
  } catch (thrown) {
    // With EEXIST, another process has just created the directory.
    if (systemErrorCode(thrown) !== 'EEXIST') throw toFileError(directory, thrown);
  }
}

interface ChangeResult {
  readonly change: FileChange;
  readonly changed: ChangedNote;
}

async function changeOnce(call: NoteCall, decide: EditNote): Promise<ChangeResult> {
  const { location, name, context } = call;
  const listing = listNotes(location);
  requireFreeName(name, listing);
  const current = readCurrent(location, name);
  const path = join(location.directory, name);
  const unreadReason = current === null ? null : describeUnread(path, current.hash, context);
  const before = current === null ? null : { ...current.text, unreadReason };
  // The task saw the index with a line for every note, so the change applies to that text.
  const isIndex = name === INDEX_NAME;
  const shown =
    before !== null && isIndex ? { ...before, text: syncIndex(location, listing, before) } : before;
  const wanted = decide(shown);
  const text = wanted !== null && isIndex ? syncIndex(location, listing, { text: wanted }) : wanted;
  const bytes = text === null ? null : Buffer.from(text, 'utf8');
  if (text !== null && bytes !== null) {
    requireRoom({ name, before: current?.size ?? null, after: bytes.length }, listing);
    refuseSecrets({ name, before: before?.text ?? '', after: text }, context);
  }
  context.signal.throwIfAborted();
  const change = await replaceFile(
    { path, bytes, scope: location.scope },
    { previous: current, unreadReason },
    context,
  );
  return { change, changed: { name, before: summarizeNote(before?.text ?? '') } };
}

function readCurrent(location: MemoryLocation, name: string) {
  try {
    const { bytes, stats } = readNoteFile(location, name, DIRECTORY_BYTES);
    if (BigInt(bytes.length) === stats.size) {
      const text = decodeForEdit(name, bytes);
      if (text.encoding !== 'UTF-8') throw createEncodingError(name, text.encoding);
      return { text, stats, bytes, hash: hashContent(bytes), size: bytes.length };
    }
  } catch (thrown) {
    if (thrown instanceof MusterError && thrown.code === 'NOT_FOUND') return null;
    throw thrown;
  }
  const message = `${name} is larger than memory_bytes = ${DIRECTORY_BYTES}: only a person can shorten it`;
  throw new MusterError('LIMIT_EXCEEDED', message);
}

/** Creates the error for a note that is not UTF-8. Muster writes notes in UTF-8, so a person has written this one. */
function createEncodingError(name: string, encoding: string): MusterError {
  const message = `${name} is ${encoding}, not UTF-8: only a person can convert it`;
  return new MusterError('INVALID_PARAM', message);
}

function describeUnread(path: string, hash: string, { files }: ToolContext): string | null {
  const seen = files.seen(path);
  if (seen === hash) return null;
  const changedBy = files.changedBy(path, hash);
  const name = basename(path);
  if (seen !== undefined) {
    const what = changedBy === undefined ? 'has changed' : `was changed by ${changedBy}`;
    return `${name} ${what} since you read it: read it again with MemoryRead. MemoryAppend needs no reading.`;
  }
  const by = changedBy === undefined ? '' : `, written by ${changedBy}`;
  return `${name} is there already${by}, and you have not read it: read it first with MemoryRead. MemoryAppend needs no reading.`;
}

interface NoteTexts {
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

function refuseSecrets({ name, before, after }: NoteTexts, { variables }: ToolContext): void {
  if (after.includes('\0'))
    throw new MusterError('INVALID_PARAM', `${name}: a note is text, without NUL`);
  if (addsRedactionMark(before, after)) {
    const message = `${name}: the text holds ${REDACTED}, which stands for a secret that you were not shown. Leave that out.`;
    throw new MusterError('INVALID_PARAM', message);
  }
  if (variables.keeps(before) && !variables.keeps(after)) {
    const message = `${name}: the text holds a secret (a key or password of the environment), and notes must not hold one. Name the place where it is kept instead.`;
    throw new MusterError('INVALID_PARAM', message);
  }
}

interface Replacement {
  readonly path: string;
  /** The new content, or null to delete the file. */
  readonly bytes: Buffer | null;
  readonly scope: MemoryScope;
}

interface PreviousNote {
  /** The file before the change, or null if there was none. */
  readonly previous: NoteRead | null;
  readonly unreadReason: string | null;
}

async function replaceFile(
  { path, bytes, scope }: Replacement,
  { previous, unreadReason }: PreviousNote,
  { files, keepFormer }: ToolContext,
): Promise<FileChange> {
  const expected = previous?.stats ?? 'nothing';
  const before = previous === null ? null : hashContent(previous.bytes);
  if (previous !== null) await keepFormer?.(previous.bytes);
  const roots = [dirname(path)];
  if (bytes === null) {
    files.willRemove(path);
    withHeldDirectory(dirname(path), { roots }, (directory) => {
      const target = directory.at(basename(path));
      requireExpected(path, target, expected);
      unlinkSync(target);
    });
    await syncDirectory(dirname(path));
    return {
      path,
      before,
      after: null,
      ...(previous === null ? {} : { mode: permissionBits(previous.stats) }),
    };
  }
  const after = hashContent(bytes);
  files.willWrite(path, after);
  // Notes of a project are ordinary files of its repository. All other notes can be read only by the user.
  const mode = scope === 'project' ? {} : { mode: PRIVATE_FILE_MODE };
  await writeFileInRoots(path, { roots }, bytes, expected, mode);
  if (unreadReason === null) files.remember(path, after);
  return { path, before, after, ...(unreadReason === null ? {} : { unread: true as const }) };
}

/** Updates the index. Changes nothing if the index is up to date or cannot be written. */
async function writeIndex(call: NoteCall, changed: ChangedNote): Promise<readonly FileChange[]> {
  const { location, context } = call;
  const { text, stored, mayBeWritten } = readIndex(location, listNotes(location), changed);
  const bytes = Buffer.from(text, 'utf8');
  if (!mayBeWritten || bytes.equals(stored?.bytes ?? Buffer.alloc(0))) return [];
  const path = join(location.directory, INDEX_NAME);
  const before = stored === null ? null : hashContent(stored.bytes);
  const unreadReason = before === null ? null : describeUnread(path, before, context);
  const known = { previous: stored, unreadReason };
  return [await replaceFile({ path, bytes, scope: location.scope }, known, context)];
}
