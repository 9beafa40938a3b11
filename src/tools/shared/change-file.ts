import { closeSync } from 'node:fs';
import { dirname } from 'node:path';
import { atScopeEnd } from '../../base/at-scope-end.ts';
import { dropMissing } from '../../base/drop-missing.ts';
import { MusterError } from '../../base/errors.ts';
import { REDACTED } from '../../protocol/redaction.ts';
import type { FileChange, ToolContext } from '../../protocol/tool.ts';
import { holdDirectory } from '../../sys/files/held-directory.ts';
import { openHeldFile } from '../../sys/files/open-in-roots.ts';
import { displayPath } from '../../sys/files/paths.ts';
import { hashContent, type FullFile } from '../../sys/files/read-file.ts';
import { isSecretPath } from '../../sys/files/secret-paths.ts';
import { writeFileInRoots, type LostProperty } from '../../sys/files/write-file.ts';
import { readWithUnsaved, writeThroughEditor } from './editor-text.ts';
import { MAX_EDIT_BYTES, readOpenFile } from './file-text.ts';

/**
 * Reads a file that is about to be changed. Throws CONFLICT if the task has not read the file, or if the file has
 * changed since then.
 */
export async function readForChange(path: string, context: ToolContext): Promise<FullFile> {
  const content = await readExisting(path, context);
  requireRead(path, { real: content.file.real, hash: content.hash }, context);
  return content;
}

async function readExisting(path: string, context: ToolContext): Promise<FullFile> {
  try {
    const options = { maxBytes: MAX_EDIT_BYTES, signal: context.signal };
    return await readWithUnsaved(path, context, options);
  } catch (thrown) {
    if (thrown instanceof MusterError && thrown.code === 'NOT_FOUND')
      requireNotRemoved(path, context);
    throw thrown;
  }
}

/**
 * Throws CONFLICT for a missing file that this task has read and another task has deleted or moved. Throws only once,
 * so that the next attempt can create the file.
 */
export function requireNotRemoved(path: string, context: ToolContext): void {
  const real = context.judged.get(path)?.real ?? path;
  const other = context.files.removedBy(real);
  if (other === undefined || !context.files.acceptRemoval(real)) return;
  const shown = displayPath(path, context.cwd);
  const message = `${shown} was deleted or moved away by ${other} since you read it. Leave it so, or use Write to make it again.`;
  throw new MusterError('CONFLICT', message);
}

/** Throws CONFLICT if this task has not read a file, or if the file has changed since then. */
export function requireRead(path: string, { real, hash }: FileVersion, context: ToolContext): void {
  const seen = context.files.seen(real);
  if (seen === hash) return;
  const shown = displayPath(path, context.cwd);
  const other = context.files.changedBy(real, hash);
  throw new MusterError(
    'CONFLICT',
    seen === undefined ? describeUnread(shown, other) : describeStale(shown, other),
  );
}

/**
 * Checks a file that may be moved or deleted without having been read. Throws CONFLICT if the file has changed since
 * this task read it, or if another task has written a version that this task has not read.
 */
export function requireNotStale(path: string, file: FileVersion, context: ToolContext): void {
  const { real, hash } = file;
  const isUnread = context.files.seen(real) === undefined;
  if (isUnread && context.files.changedBy(real, hash) === undefined) return;
  requireRead(path, file, context);
}

/** A file in its present version. `real` is its absolute path without links, `hash` its `fileFingerprint`. */
export interface FileVersion {
  readonly real: string;
  readonly hash: string;
}

function describeUnread(shown: string, other: string | undefined): string {
  const by = other === undefined ? '' : `, and was written by ${other}`;
  return `${shown} has not been read in this task${by}: Read it first.`;
}

function describeStale(shown: string, other: string | undefined): string {
  const what = other === undefined ? 'has changed' : `was changed by ${other}`;
  return `${shown} ${what} since it was read: Read it again before changing it.`;
}

/** A change of a file that has been written. */
export interface WrittenChange {
  readonly change: FileChange;
  /**
   * Sentences that name properties of the file that could not be preserved. Each begins with a space. Usually empty.
   */
  readonly lost: string;
}

const LOST_PROPERTY_NOTES: Readonly<Record<LostProperty, string>> = {
  owner: ' It belongs to you now: its owner could not be preserved.',
  special_bits: ' Its setuid and setgid bits were dropped.',
  other_names: ' It had other names (hard links): they keep the old content.',
};

/** The new content of a file. */
export interface NewContent {
  readonly text: string;
  /** The text of the file before the change, or an empty text for a new file. */
  readonly previous: string;
  /** The new text in the encoding of the file, including its byte order mark. */
  readonly bytes: Buffer;
  /** Set if the task has not read all of the new text. The task then does not know the content of the file. */
  readonly isUnread?: true;
  /** The permission bits of a new file. Default: set by the umask. */
  readonly mode?: number;
}

/**
 * Replaces a file, or creates it if `before` is `nothing`. Fails if the file is no longer in the version `before`.
 * Returns the change for the log.
 */
export async function writeChange(
  path: string,
  before: FullFile | 'nothing',
  content: NewContent,
  context: ToolContext,
): Promise<WrittenChange> {
  refuseRedactionMark(path, content, context);
  const { bytes } = content;
  context.signal.throwIfAborted();
  const expected = before === 'nothing' ? before : before.file.stats;
  const after = hashContent(bytes);
  const real = before === 'nothing' ? context.judged.get(path)?.real : before.file.real;
  if (before !== 'nothing' && !isSecretPath(before.file.real)) {
    await context.keepFormer?.(before.bytes);
  }
  context.files.willWrite(real ?? path, after);
  if (before !== 'nothing' && before.file.unsaved !== undefined) {
    const written = await writeThroughEditor(before.file.real, content, context);
    const unread = written.isAsGiven ? content.isUnread : (true as const);
    if (unread === undefined) context.files.remember(before.file.real, written.hash);
    const change = { path: before.file.real, before: before.hash, after: written.hash };
    return { change: { ...change, ...dropMissing({ unread }) }, lost: written.note };
  }
  const { isUnread, mode } = content;
  const options = mode === undefined ? {} : { mode };
  const written = await writeFileInRoots(path, context, bytes, expected, options);
  if (isUnread === undefined) context.files.remember(written.real, after);
  return {
    change: {
      path: written.real,
      before: before === 'nothing' ? null : before.hash,
      after,
      ...(isUnread === undefined ? {} : { unread: true }),
    },
    lost: written.lost.map((property) => LOST_PROPERTY_NOTES[property]).join(''),
  };
}

/**
 * Refuses a text with a redaction mark. The mark stands for a secret that was hidden from the model, so writing the
 * mark would overwrite the secret.
 */
export function refuseRedactionMark(
  path: string,
  { text, previous }: Pick<NewContent, 'text' | 'previous'>,
  context: Pick<ToolContext, 'cwd'>,
): void {
  if (!addsRedactionMark(previous, text)) return;
  const shown = displayPath(path, context.cwd);
  const message = `${shown}: the text holds ${REDACTED}, which stands for a secret that you were not shown. Leave that part of the file as it is: change the others with Edit.`;
  throw new MusterError('INVALID_PARAM', message);
}

/** Returns whether a changed text has more redaction marks than the text before the change. */
export function addsRedactionMark(before: string, after: string): boolean {
  return after.split(REDACTED).length > before.split(REDACTED).length;
}

/** A file that is about to be deleted or replaced, in the version to which the permission decision applies. */
interface ReplacedFile {
  /** The absolute path without links. */
  readonly real: string;
  /** The root directory that contains the file. */
  readonly root: string;
  /** The hash from `fileFingerprint`. */
  readonly hash: string;
}

/**
 * Saves the content of a file that is about to be deleted or replaced. It does not save files that are larger than
 * MAX_EDIT_BYTES, files that usually hold secrets, and files whose content has changed. The code that deletes or
 * replaces a file detects the change and fails.
 */
export async function savePreviousContent(file: ReplacedFile, context: ToolContext): Promise<void> {
  if (context.keepFormer === undefined || isSecretPath(file.real)) return;
  const directory = holdDirectory(file.root, dirname(file.real));
  using _closeDirectory = atScopeEnd(() => directory.close());
  // The permission decision covered the file's other names (hard links). Its content is compared below.
  const judged = new Map([[file.real, { real: file.real, mayHaveOtherNames: true }]]);
  const opened = openHeldFile(directory, file.real, { roots: context.roots, judged });
  using _closeFile = atScopeEnd(() => closeSync(opened.fd));
  const bytes = await readOpenFile(opened, MAX_EDIT_BYTES, context.signal);
  if (bytes !== null && hashContent(bytes) === file.hash) await context.keepFormer(bytes);
}

/** Returns the permission bits of a file, for the record of its deletion. */
export function permissionBits({ mode }: { readonly mode: bigint }): number {
  return Number(mode & 0o777n);
}
