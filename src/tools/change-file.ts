import { MusterError } from '../base/errors.ts';
import { REDACTED } from '../protocol/redaction.ts';
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
  refuseRedacted(path, before, content, context);
  const bytes = Buffer.from(content, 'utf8');
  context.signal.throwIfAborted();
  const expected = before === 'nothing' ? before : before.file.stats;
  const real = await writeFileInRoots(path, context.roots, bytes, expected);
  const after = sha256(bytes);
  context.files.remember(real, after);
  return { path: real, before: before === 'nothing' ? null : before.hash, after };
}

/** The mark stands for a secret that the model was not shown: written, it would be the secret's end. */
function refuseRedacted(
  path: string,
  before: WholeFile | 'nothing',
  content: string,
  context: ToolContext,
): void {
  const held = before === 'nothing' ? 0 : marksIn(before.bytes.toString('utf8'));
  if (marksIn(content) <= held) return;
  const shown = displayPath(path, context.cwd);
  throw new MusterError(
    'INVALID_PARAM',
    `${shown}: the text holds ${REDACTED}, which stands for a secret that you were not shown. Leave that part of the file as it is: change the others with Edit.`,
  );
}

function marksIn(text: string): number {
  return text.split(REDACTED).length - 1;
}
