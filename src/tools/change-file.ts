import { MusterError } from '../base/errors.ts';
import type { FileChange, ToolContext } from '../protocol/tool.ts';
import { displayPath } from '../sys/paths.ts';
import { readWholeFile, sha256, type WholeFile } from '../sys/read-file.ts';
import { writeFileInRoots } from '../sys/write-file.ts';
import { MAX_EDIT_BYTES } from './read.ts';

/**
 * A file that is about to be changed: whole, and as this task knows it. Throws CONFLICT when the task
 * has not read it, or when it changed since.
 */
export async function readForChange(path: string, context: ToolContext): Promise<WholeFile> {
  const options = { maxBytes: MAX_EDIT_BYTES, signal: context.signal };
  const whole = await readWholeFile(path, context.roots, options);
  const shown = displayPath(path, context.cwd);
  const seen = context.files.seen(whole.file.real);
  if (seen === undefined) {
    throw new MusterError('CONFLICT', `${shown} has not been read in this task: Read it first.`);
  }
  if (seen !== whole.hash) {
    throw new MusterError(
      'CONFLICT',
      `${shown} has changed since it was read: Read it again before changing it.`,
    );
  }
  return whole;
}

/** Write what was decided from `before` (`nothing`: a new file), and say so for the receipt. */
export async function writeChange(
  path: string,
  before: WholeFile | 'nothing',
  content: string,
  context: ToolContext,
): Promise<FileChange> {
  const bytes = Buffer.from(content, 'utf8');
  context.signal.throwIfAborted();
  const expected = before === 'nothing' ? before : before.file.stats;
  const real = await writeFileInRoots(path, context.roots, bytes, expected);
  const after = sha256(bytes);
  context.files.remember(real, after);
  return { path: real, before: before === 'nothing' ? null : before.hash, after };
}
