import { MusterError } from '../../base/errors.ts';
import { REDACTED } from '../../protocol/redaction.ts';
import type { FileChange, ToolContext } from '../../protocol/tool.ts';
import { displayPath } from '../../sys/paths.ts';
import { readWholeFile, sha256, type WholeFile } from '../../sys/read-file.ts';
import { isSecretPath } from '../../sys/secret-paths.ts';
import { writeFileInRoots, type LostProperty } from '../../sys/write-file.ts';
import { MAX_EDIT_BYTES } from './file-content.ts';

/**
 * A file that is about to be changed: whole, and as this task knows it. Throws CONFLICT when the task
 * has not read it, or when it changed since.
 */
export async function readForChange(path: string, context: ToolContext): Promise<WholeFile> {
  const whole = await readKnown(path, context);
  requireSeen(path, { real: whole.file.real, hash: whole.hash }, context);
  return whole;
}

async function readKnown(path: string, context: ToolContext): Promise<WholeFile> {
  try {
    const options = { maxBytes: MAX_EDIT_BYTES, signal: context.signal };
    return await readWholeFile(path, context, options);
  } catch (thrown) {
    if (thrown instanceof MusterError && thrown.code === 'NOT_FOUND') requireKept(path, context);
    throw thrown;
  }
}

/** Of a file that is gone: throws CONFLICT, once, where another task has taken it from this one that knew it. */
function requireKept(path: string, context: ToolContext): void {
  const real = context.judged.get(path)?.real ?? path;
  const other = context.files.removedBy(real);
  if (other === undefined || !context.files.acceptRemoval(real)) return;
  const shown = displayPath(path, context.cwd);
  throw new MusterError(
    'CONFLICT',
    `${shown} was deleted, or moved away, by ${other} since it was read. Leave it so, or Write it if it is to be made anew.`,
  );
}

/** Throws CONFLICT when this task has not read a file, or when it changed since. */
export function requireSeen(path: string, { real, hash }: KnownFile, context: ToolContext): void {
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
 * For what needs not be read to be moved or deleted: throws CONFLICT when it changed since this task has
 * read it, or when another task has written it and this one has not read that.
 */
export function requireNotStale(path: string, file: KnownFile, context: ToolContext): void {
  const { real, hash } = file;
  const isUnknown = context.files.seen(real) === undefined;
  if (isUnknown && context.files.changedBy(real, hash) === undefined) return;
  requireSeen(path, file, context);
}

/** A file as it is now; `real` is absolute, `hash` as `fileFingerprint` gives it. */
export interface KnownFile {
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

export interface WrittenChange {
  readonly change: FileChange;
  /** What of the file is not as before, in sentences that follow others; mostly empty. */
  readonly lost: string;
}

const LOST: Readonly<Record<LostProperty, string>> = {
  owner: ' It belongs to you now: its owner could not be kept.',
  special_bits: ' Its setuid and setgid bits were dropped.',
  other_names: ' It had other names (hard links): they keep the old content.',
};

/** What a file is to hold. */
export interface NewContent {
  readonly text: string;
  /** The text before; of a new file an empty one. */
  readonly former: string;
  /** The text in the encoding of the file, its byte order mark included. */
  readonly bytes: Buffer;
}

/** Write what was decided from `before` (`nothing`: a new file), and say so for the receipt. */
export async function writeChange(
  path: string,
  before: WholeFile | 'nothing',
  content: NewContent,
  context: ToolContext,
): Promise<WrittenChange> {
  refuseRedacted(path, content, context);
  const { bytes } = content;
  context.signal.throwIfAborted();
  const expected = before === 'nothing' ? before : before.file.stats;
  const after = sha256(bytes);
  const led = before === 'nothing' ? context.judged.get(path)?.real : before.file.real;
  if (before !== 'nothing' && !isSecretPath(before.file.real)) {
    await context.keepFormer?.(before.bytes);
  }
  context.files.willWrite(led ?? path, after);
  const { real, lost } = await writeFileInRoots(path, context, bytes, expected);
  context.files.remember(real, after);
  return {
    change: { path: real, before: before === 'nothing' ? null : before.hash, after },
    lost: lost.map((property) => LOST[property]).join(''),
  };
}

/** The mark stands for a secret that the model was not shown: written, it would be the secret's end. */
function refuseRedacted(path: string, { text, former }: NewContent, context: ToolContext): void {
  if (marksIn(text) <= marksIn(former)) return;
  const shown = displayPath(path, context.cwd);
  throw new MusterError(
    'INVALID_PARAM',
    `${shown}: the text holds ${REDACTED}, which stands for a secret that you were not shown. Leave that part of the file as it is: change the others with Edit.`,
  );
}

function marksIn(text: string): number {
  return text.split(REDACTED).length - 1;
}
