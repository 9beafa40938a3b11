import { chmodSync, existsSync, mkdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { MusterError, systemErrorCode } from '../../base/errors.ts';
import type { MemoryPlace, MemoryScope } from '../../protocol/memory.ts';
import { REDACTED } from '../../protocol/redaction.ts';
import type { FileChange, ToolContext } from '../../protocol/tool.ts';
import { fileError } from '../../sys/file-errors.ts';
import { holdDirectory } from '../../sys/held-directory.ts';
import { inDirectory } from '../../sys/open-in-roots.ts';
import { sha256 } from '../../sys/read-file.ts';
import { requireExpected, syncDirectory, writeFileInRoots } from '../../sys/write-file.ts';
import { decodeForEdit, type FileText } from '../shared/file-text.ts';
import { modeOf } from '../shared/previous-content.ts';
import { INDEX_NAME, summaryOf } from './index-file.ts';
import { DIRECTORY_BYTES, requireRoom } from './memory-limits.ts';
import { requireFree } from './note-names.ts';
import { memoryOf, type NoteCall } from './note-call.ts';
import {
  isThere,
  listNotes,
  readIndex,
  readNote,
  trueText,
  type ChangedNote,
  type NoteRead,
} from './notes.ts';

/** How often a change is decided anew when somebody else, who knows no lock, was faster. */
const MOST_TRIES = 5;
const PRIVATE_FILE = 0o600;
const PRIVATE_DIRECTORY = 0o700;

/** A note before a change. */
export interface NoteBefore extends FileText {
  /** Why the task does not know this content, as a sentence; null: it does. */
  readonly unknown: string | null;
}

/** What a note is to hold; null: it is to go. `before` is null where there is none. May throw MusterError. */
export type Decide = (before: NoteBefore | null) => string | null;

export interface NoteChange {
  readonly changes: readonly FileChange[];
  /** Why the index is not true yet, as a sentence; null: it is. */
  readonly indexProblem: string | null;
}

/**
 * Changes a note, all or nothing, and then makes the index true, while nobody else does. Where the index
 * can't be written, or this process dies before that, it is mended by the next change.
 */
export async function changeNote(call: NoteCall, decide: Decide): Promise<NoteChange> {
  const { place, context } = call;
  prepare(place);
  return await memoryOf(context).locked(place.directory, async () => {
    const { change, changed } = await untilUndisturbed(() => changeOnce(call, decide));
    try {
      const index = await untilUndisturbed(() => mendIndex(call, changed));
      return { changes: [change, ...index], indexProblem: null };
    } catch (thrown) {
      // The note is changed: to fail would make its task change it again.
      if (!(thrown instanceof MusterError)) throw thrown;
      return { changes: [change], indexProblem: thrown.message };
    }
  });
}

async function untilUndisturbed<T>(act: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await act();
    } catch (thrown) {
      const isRaced = thrown instanceof MusterError && thrown.retryable;
      if (!isRaced || tries === MOST_TRIES) throw thrown;
    }
  }
}

/** Makes the directory: for the user alone, and kept out of git, where it is not the project's. */
function prepare(place: MemoryPlace): void {
  const { base, directory, scope, top } = place;
  if (isThere(place)) return;
  try {
    const isFirst = !existsSync(top);
    if (scope === 'user') mkdirSync(base, { recursive: true, mode: 0o700 });
    const mode = scope === 'project' ? {} : { mode: PRIVATE_DIRECTORY };
    holdDirectory(base, directory, { create: true, ...mode }).close();
    if (!isFirst || scope === 'project') return;
    // A umask may have taken rights away from the user, too.
    chmodSync(top, PRIVATE_DIRECTORY);
    if (scope === 'local') {
      writeFileSync(join(top, '.gitignore'), '*\n', { flag: 'wx', mode: PRIVATE_FILE });
    }
  } catch (thrown) {
    // Another process has made it just now.
    if (systemErrorCode(thrown) !== 'EEXIST') throw fileError(directory, thrown);
  }
}

interface Changed {
  readonly change: FileChange;
  readonly changed: ChangedNote;
}

async function changeOnce({ place, name, context }: NoteCall, decide: Decide): Promise<Changed> {
  const listing = listNotes(place);
  requireFree(name, listing);
  const current = readCurrent(place, name);
  const path = join(place.directory, name);
  const unknown = current === null ? null : whyUnknown(path, current.hash, context);
  const before = current === null ? null : { ...current.text, unknown };
  // The index is changed as it is shown.
  const isIndex = name === INDEX_NAME;
  const shown =
    before !== null && isIndex ? { ...before, text: trueText(place, listing, before) } : before;
  const wanted = decide(shown);
  const text = wanted !== null && isIndex ? trueText(place, listing, { text: wanted }) : wanted;
  const bytes = text === null ? null : Buffer.from(text, 'utf8');
  if (text !== null && bytes !== null) {
    requireRoom({ name, before: current?.size ?? null, after: bytes.length }, listing);
    refuseSecrets({ name, before: before?.text ?? '', after: text }, context);
  }
  context.signal.throwIfAborted();
  const change = await replace(
    { path, bytes, scope: place.scope },
    { former: current, unknown },
    context,
  );
  return { change, changed: { name, before: summaryOf(before?.text ?? '') } };
}

function readCurrent(place: MemoryPlace, name: string) {
  try {
    const { bytes, stats } = readNote(place, name, DIRECTORY_BYTES);
    if (BigInt(bytes.length) === stats.size) {
      const text = decodeForEdit(name, bytes);
      if (text.encoding !== 'UTF-8') throw notUtf8(name, text.encoding);
      return { text, stats, bytes, hash: sha256(bytes), size: bytes.length };
    }
  } catch (thrown) {
    if (thrown instanceof MusterError && thrown.code === 'NOT_FOUND') return null;
    throw thrown;
  }
  const message = `${name} is larger than memory_bytes = ${DIRECTORY_BYTES}: only a person can shorten it`;
  throw new MusterError('LIMIT_EXCEEDED', message);
}

/** Notes are written in UTF-8: only a person can have made another one. */
function notUtf8(name: string, encoding: string): MusterError {
  const message = `${name} is ${encoding}, not UTF-8: only a person can convert it`;
  return new MusterError('INVALID_PARAM', message);
}

function whyUnknown(path: string, hash: string, { files }: ToolContext): string | null {
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
  if (marksIn(after) > marksIn(before)) {
    throw new MusterError(
      'INVALID_PARAM',
      `${name}: the text holds ${REDACTED}, which stands for a secret that you were not shown. Leave that out.`,
    );
  }
  if (variables.keeps(before) && !variables.keeps(after)) {
    const message = `${name}: the text holds a secret (a key or password of the environment): notes keep none. Name where it is had instead.`;
    throw new MusterError('INVALID_PARAM', message);
  }
}

function marksIn(text: string): number {
  return text.split(REDACTED).length - 1;
}

interface Replacement {
  readonly path: string;
  /** Null: it is deleted. */
  readonly bytes: Buffer | null;
  readonly scope: MemoryScope;
}

interface Known {
  /** What was there; null: nothing. */
  readonly former: NoteRead | null;
  readonly unknown: string | null;
}

async function replace(
  { path, bytes, scope }: Replacement,
  { former, unknown }: Known,
  { files, keepFormer }: ToolContext,
): Promise<FileChange> {
  const expected = former?.stats ?? 'nothing';
  const before = former === null ? null : sha256(former.bytes);
  if (former !== null) await keepFormer?.(former.bytes);
  const roots = [dirname(path)];
  if (bytes === null) {
    files.willRemove(path);
    inDirectory(dirname(path), { roots }, (directory) => {
      const target = directory.at(basename(path));
      requireExpected(path, target, expected);
      unlinkSync(target);
    });
    await syncDirectory(dirname(path));
    return {
      path,
      before,
      after: null,
      ...(former === null ? {} : { mode: modeOf(former.stats) }),
    };
  }
  const after = sha256(bytes);
  files.willWrite(path, after);
  // Notes of a project are files of its repository, as any other; the rest is for the user alone.
  const mode = scope === 'project' ? {} : { mode: PRIVATE_FILE };
  await writeFileInRoots(path, { roots }, bytes, expected, mode);
  if (unknown === null) files.remember(path, after);
  return { path, before, after, ...(unknown === null ? {} : { unread: true as const }) };
}

/** What becomes of the index; nothing where it is true already, or is not ours to write. */
async function mendIndex(
  { place, context }: NoteCall,
  changed: ChangedNote,
): Promise<readonly FileChange[]> {
  const { text, stored, mayBeWritten } = readIndex(place, listNotes(place), changed);
  const bytes = Buffer.from(text, 'utf8');
  if (!mayBeWritten || bytes.equals(stored?.bytes ?? Buffer.alloc(0))) return [];
  const path = join(place.directory, INDEX_NAME);
  const before = stored === null ? null : sha256(stored.bytes);
  const unknown = before === null ? null : whyUnknown(path, before, context);
  return [await replace({ path, bytes, scope: place.scope }, { former: stored, unknown }, context)];
}
