import { closeSync } from 'node:fs';
import { dirname } from 'node:path';
import { atScopeEnd } from '../../base/at-scope-end.ts';
import { MusterError } from '../../base/errors.ts';
import { REDACTED } from '../../protocol/redaction.ts';
import type { FileChange, ToolContext } from '../../protocol/tool.ts';
import { holdDirectory } from '../../sys/files/held-directory.ts';
import { openHeldFile } from '../../sys/files/open-in-roots.ts';
import { displayPath } from '../../sys/files/paths.ts';
import { readFullFile, hashContent, type FullFile } from '../../sys/files/read-file.ts';
import { isSecretPath } from '../../sys/files/secret-paths.ts';
import { writeFileInRoots, type LostProperty } from '../../sys/files/write-file.ts';
import { MAX_EDIT_BYTES, readOpenFile } from './file-text.ts';

/**
 * Reads a file that is about to be changed. Throws CONFLICT when the task has not read it, or when it has changed
 * since.
 */
export async function readForChange(path: string, context: ToolContext): Promise<FullFile> {
  const content = await readExisting(path, context);
  requireRead(path, { real: content.file.real, hash: content.hash }, context);
  return content;
}

async function readExisting(path: string, context: ToolContext): Promise<FullFile> {
  try {
    const options = { maxBytes: MAX_EDIT_BYTES, signal: context.signal };
    return await readFullFile(path, context, options);
  } catch (thrown) {
    if (thrown instanceof MusterError && thrown.code === 'NOT_FOUND')
      requireNotRemoved(path, context);
    throw thrown;
  }
}

/** Throws CONFLICT, once, for a missing file that this task has read and another task has deleted or moved. */
function requireNotRemoved(path: string, context: ToolContext): void {
  const real = context.judged.get(path)?.real ?? path;
  const other = context.files.removedBy(real);
  if (other === undefined || !context.files.acceptRemoval(real)) return;
  const shown = displayPath(path, context.cwd);
  const message = `${shown} was deleted or moved away by ${other} since you read it. Leave it so, or use Write to make it again.`;
  throw new MusterError('CONFLICT', message);
}

/** Throws CONFLICT when this task has not read a file, or when the file has changed since. */
export function requireRead(path: string, { real, hash }: FileVersion, context: ToolContext): void {
  const seen = context.files.seen(real);
  if (seen === hash) return;
  const shown = displayPath(path, context.cwd);
  const other = context.files.changedBy(real, hash);
  throw new MusterError(
    'CONFLICT',
    seen === undefined ? unreadProblem(shown, other) : staleProblem(shown, other),
  );
}

/**
 * Checks a file that may be moved or deleted without having been read. Throws CONFLICT when it has changed since this
 * task read it, or when another task has written it and this task has not read that version.
 */
export function requireNotStale(path: string, file: FileVersion, context: ToolContext): void {
  const { real, hash } = file;
  const isUnknown = context.files.seen(real) === undefined;
  if (isUnknown && context.files.changedBy(real, hash) === undefined) return;
  requireRead(path, file, context);
}

/** A file in its present version. `real` is its absolute path without links, `hash` its `fileFingerprint`. */
export interface FileVersion {
  readonly real: string;
  readonly hash: string;
}

function unreadProblem(shown: string, other: string | undefined): string {
  const by = other === undefined ? '' : `, and was written by ${other}`;
  return `${shown} has not been read in this task${by}: Read it first.`;
}

function staleProblem(shown: string, other: string | undefined): string {
  const what = other === undefined ? 'has changed' : `was changed by ${other}`;
  return `${shown} ${what} since it was read: Read it again before changing it.`;
}

/** A change that was written. */
export interface WrittenChange {
  readonly change: FileChange;
  /** Sentences, mostly none, that name the properties of the file that were lost. Each begins with a space. */
  readonly lost: string;
}

const LOST: Readonly<Record<LostProperty, string>> = {
  owner: ' It belongs to you now: its owner could not be preserved.',
  special_bits: ' Its setuid and setgid bits were dropped.',
  other_names: ' It had other names (hard links): they keep the old content.',
};

/** The content that a file is to get. */
export interface NewContent {
  readonly text: string;
  /** The text before; empty for a new file. */
  readonly previous: string;
  /** The text in the encoding of the file, its byte order mark included. */
  readonly bytes: Buffer;
}

/** Replaces a file whose version `before` was read, or makes a new one (`nothing`). Returns the change for the log. */
export async function writeChange(
  path: string,
  before: FullFile | 'nothing',
  content: NewContent,
  context: ToolContext,
): Promise<WrittenChange> {
  refuseRedacted(path, content, context);
  const { bytes } = content;
  context.signal.throwIfAborted();
  const expected = before === 'nothing' ? before : before.file.stats;
  const after = hashContent(bytes);
  const real = before === 'nothing' ? context.judged.get(path)?.real : before.file.real;
  if (before !== 'nothing' && !isSecretPath(before.file.real)) {
    await context.keepFormer?.(before.bytes);
  }
  context.files.willWrite(real ?? path, after);
  const written = await writeFileInRoots(path, context, bytes, expected);
  context.files.remember(written.real, after);
  return {
    change: { path: written.real, before: before === 'nothing' ? null : before.hash, after },
    lost: written.lost.map((property) => LOST[property]).join(''),
  };
}

/** The mark stands for a secret that was hidden from the model. Writing it would overwrite the secret. */
function refuseRedacted(path: string, { text, previous }: NewContent, context: ToolContext): void {
  if (!addsRedactionMark(previous, text)) return;
  const shown = displayPath(path, context.cwd);
  const message = `${shown}: the text holds ${REDACTED}, which stands for a secret that you were not shown. Leave that part of the file as it is: change the others with Edit.`;
  throw new MusterError('INVALID_PARAM', message);
}

/** Whether a changed text holds more marks of redacted secrets than the text before. */
export function addsRedactionMark(before: string, after: string): boolean {
  return after.split(REDACTED).length > before.split(REDACTED).length;
}

/** A file that is about to be deleted or replaced, in the version that the permission decision was about. */
interface ReplacedFile {
  /** Absolute, without links. */
  readonly real: string;
  /** The root directory that contains it. */
  readonly root: string;
  /** The hash from `fileFingerprint`. */
  readonly hash: string;
}

/**
 * Saves the content of a file that is about to be deleted or replaced. Not saved are files larger than Edit can
 * replace, files that usually hold secrets, of which no copies are made, and files whose content has changed: the code
 * that deletes or replaces them detects that.
 */
export async function savePreviousContent(file: ReplacedFile, context: ToolContext): Promise<void> {
  if (context.keepFormer === undefined || isSecretPath(file.real)) return;
  const directory = holdDirectory(file.root, dirname(file.real));
  using _closeDirectory = atScopeEnd(() => directory.close());
  // The permission decision covered its other names (hard links); its content is compared below.
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
