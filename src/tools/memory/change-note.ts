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

/** How often a change is tried when programs that take no lock change the file meanwhile. */
const MAX_ATTEMPTS = 5;
const PRIVATE_FILE = 0o600;
const PRIVATE_DIRECTORY = 0o700;

/** The content of a note before a change. */
export interface NoteBefore extends DecodedFile {
  /** Says why the task has not read this content, as a sentence; null when it has. */
  readonly unreadReason: string | null;
}

/**
 * Returns the new content of a note, or null to delete it. `before` is null where there is no note yet. May throw
 * MusterError to change nothing.
 */
export type EditNote = (before: NoteBefore | null) => string | null;

/** The result of changing a note. */
export interface NoteChange {
  readonly changes: readonly FileChange[];
  /** Says why the index could not be updated, as a sentence; null when it was. */
  readonly indexProblem: string | null;
}

/**
 * Changes a note completely or not at all, and then updates the index, while it holds the lock of the directory. If
 * the index cannot be written, or this process dies before that, the next change repairs it.
 */
export async function changeNote(call: NoteCall, decide: EditNote): Promise<NoteChange> {
  const { place, context } = call;
  prepareDirectory(place);
  return await requireMemory(context).runLocked(place.directory, async () => {
    const { change, changed } = await retryWhenRaced(() => changeOnce(call, decide));
    try {
      const index = await retryWhenRaced(() => writeIndex(call, changed));
      return { changes: [change, ...index], indexProblem: null };
    } catch (thrown) {
      // The note has been changed. If the call failed now, the task would change it again.
      if (!(thrown instanceof MusterError)) throw thrown;
      return { changes: [change], indexProblem: thrown.message };
    }
  });
}

async function retryWhenRaced<T>(act: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await act();
    } catch (thrown) {
      const isRaced = thrown instanceof MusterError && thrown.retryable;
      if (!isRaced || tries === MAX_ATTEMPTS) throw thrown;
    }
  }
}

/** Makes the directory. Unless it belongs to the project, only the user can open it and git ignores it. */
function prepareDirectory(place: MemoryLocation): void {
  const { base, directory, scope, top } = place;
  if (memoryExists(place)) return;
  try {
    const isFirst = !existsSync(top);
    if (scope === 'user') mkdirSync(base, { recursive: true, mode: 0o700 });
    const mode = scope === 'project' ? {} : { mode: PRIVATE_DIRECTORY };
    holdDirectory(base, directory, { create: true, ...mode }).close();
    if (!isFirst || scope === 'project') return;
    // The umask may have removed rights of the user as well.
    chmodSync(top, PRIVATE_DIRECTORY);
    if (scope === 'local') {
      writeFileSync(join(top, '.gitignore'), '*\n', { flag: 'wx', mode: PRIVATE_FILE });
    }
  } catch (thrown) {
    // EEXIST: another process has just made it.
    if (systemErrorCode(thrown) !== 'EEXIST') throw toFileError(directory, thrown);
  }
}

interface ChangeResult {
  readonly change: FileChange;
  readonly changed: ChangedNote;
}

async function changeOnce(call: NoteCall, decide: EditNote): Promise<ChangeResult> {
  const { place, name, context } = call;
  const listing = listNotes(place);
  requireFreeName(name, listing);
  const current = readCurrent(place, name);
  const path = join(place.directory, name);
  const unreadReason = current === null ? null : whyUnread(path, current.hash, context);
  const before = current === null ? null : { ...current.text, unreadReason };
  // The task changes the index as it was shown: with a line for every note.
  const isIndex = name === INDEX_NAME;
  const shown =
    before !== null && isIndex ? { ...before, text: syncIndex(place, listing, before) } : before;
  const wanted = decide(shown);
  const text = wanted !== null && isIndex ? syncIndex(place, listing, { text: wanted }) : wanted;
  const bytes = text === null ? null : Buffer.from(text, 'utf8');
  if (text !== null && bytes !== null) {
    requireRoom({ name, before: current?.size ?? null, after: bytes.length }, listing);
    refuseSecrets({ name, before: before?.text ?? '', after: text }, context);
  }
  context.signal.throwIfAborted();
  const change = await replaceFile(
    { path, bytes, scope: place.scope },
    { previous: current, unreadReason },
    context,
  );
  return { change, changed: { name, before: summarizeNote(before?.text ?? '') } };
}

function readCurrent(place: MemoryLocation, name: string) {
  try {
    const { bytes, stats } = readNoteFile(place, name, DIRECTORY_BYTES);
    if (BigInt(bytes.length) === stats.size) {
      const text = decodeForEdit(name, bytes);
      if (text.encoding !== 'UTF-8') throw notUtf8(name, text.encoding);
      return { text, stats, bytes, hash: hashContent(bytes), size: bytes.length };
    }
  } catch (thrown) {
    if (thrown instanceof MusterError && thrown.code === 'NOT_FOUND') return null;
    throw thrown;
  }
  const message = `${name} is larger than memory_bytes = ${DIRECTORY_BYTES}: only a person can shorten it`;
  throw new MusterError('LIMIT_EXCEEDED', message);
}

/** Muster writes notes in UTF-8, so a person has made this one. */
function notUtf8(name: string, encoding: string): MusterError {
  const message = `${name} is ${encoding}, not UTF-8: only a person can convert it`;
  return new MusterError('INVALID_PARAM', message);
}

function whyUnread(path: string, hash: string, { files }: ToolContext): string | null {
  const seen = files.seen(path);
  if (seen === hash) return null;
  const other = files.changedBy(path, hash);
  const name = basename(path);
  if (seen !== undefined) {
    const what = other === undefined ? 'has changed' : `was changed by ${other}`;
    return `${name} ${what} since you read it: read it again with MemoryRead. MemoryAppend needs no reading.`;
  }
  const by = other === undefined ? '' : `, written by ${other}`;
  return `${name} is there already${by}, and you have not read it: read it first with MemoryRead. MemoryAppend needs no reading.`;
}

interface Texts {
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

function refuseSecrets({ name, before, after }: Texts, { variables }: ToolContext): void {
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
  /** The new content; null to delete the file. */
  readonly bytes: Buffer | null;
  readonly scope: MemoryScope;
}

interface KnownNote {
  /** The file that was there; null when there was none. */
  readonly previous: NoteRead | null;
  readonly unreadReason: string | null;
}

async function replaceFile(
  { path, bytes, scope }: Replacement,
  { previous, unreadReason }: KnownNote,
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
  // Notes of a project are ordinary files of its repository. All others can be read by the user alone.
  const mode = scope === 'project' ? {} : { mode: PRIVATE_FILE };
  await writeFileInRoots(path, { roots }, bytes, expected, mode);
  if (unreadReason === null) files.remember(path, after);
  return { path, before, after, ...(unreadReason === null ? {} : { unread: true as const }) };
}

/** Updates the index. Changes nothing where it is up to date or cannot be written. */
async function writeIndex(call: NoteCall, changed: ChangedNote): Promise<readonly FileChange[]> {
  const { place, context } = call;
  const { text, stored, mayBeWritten } = readIndex(place, listNotes(place), changed);
  const bytes = Buffer.from(text, 'utf8');
  if (!mayBeWritten || bytes.equals(stored?.bytes ?? Buffer.alloc(0))) return [];
  const path = join(place.directory, INDEX_NAME);
  const before = stored === null ? null : hashContent(stored.bytes);
  const unreadReason = before === null ? null : whyUnread(path, before, context);
  const known = { previous: stored, unreadReason };
  return [await replaceFile({ path, bytes, scope: place.scope }, known, context)];
}
