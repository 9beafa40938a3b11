import { errorMessage, MusterError } from '../../base/errors.ts';
import type { ToolContext } from '../../protocol/tool.ts';
import type { OpenFile } from '../../sys/files/open-in-roots.ts';
import { displayPath } from '../../sys/files/paths.ts';
import { hashContent, readFullFile, type FullFile } from '../../sys/files/read-file.ts';
import {
  convertLineEnds,
  decodeForEdit,
  encodeLikeFile,
  MAX_EDIT_BYTES,
  readOpenFile,
} from './file-text.ts';

type EditorContext = Pick<ToolContext, 'cwd' | 'editor' | 'signal'>;

/** Adds the text that the user has not saved in an editor to an open file. Returns the file as it is if there is none. */
export async function withUnsaved(file: OpenFile, context: EditorContext): Promise<OpenFile> {
  if (context.editor === undefined) return file;
  const bytes = await readOpenFile(file, MAX_EDIT_BYTES, context.signal);
  const unsaved = bytes === null ? null : await readUnsaved(file.real, bytes, context);
  return unsaved === null ? file : { ...file, unsaved };
}

/** Reads a file as `readFullFile` does, with the text that the user has not saved in an editor instead of that on the disk. */
export async function readWithUnsaved(
  path: string,
  context: ToolContext,
  options: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<FullFile> {
  const saved = await readFullFile(path, context, options);
  const unsaved = await readUnsaved(saved.file.real, saved.bytes, context);
  if (unsaved === null) return saved;
  return { bytes: unsaved, hash: hashContent(unsaved), file: { ...saved.file, unsaved } };
}

/**
 * Returns the text of the editor in the encoding of the file, or null if it is the same as on the disk. Editors give texts without a
 * byte order mark, and some give every line the same end, so these do not count as differences.
 */
async function readUnsaved(
  path: string,
  saved: Buffer,
  { cwd, editor, signal }: EditorContext,
): Promise<Buffer | null> {
  const given = (await editor?.read(path, signal)) ?? null;
  if (given === null) return null;
  try {
    const file = decodeForEdit(displayPath(path, cwd), saved);
    if (withNewlines(given) === withNewlines(file.text)) return null;
    const text = convertLineEnds(withNewlines(given), file.lineEnd);
    return encodeLikeFile(displayPath(path, cwd), text, file);
  } catch (thrown) {
    // Only texts can be edited, so the file on the disk counts.
    if (thrown instanceof MusterError) return null;
    throw thrown;
  }
}

function withNewlines(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

/** The result of a change through the editor. */
interface EditorWrite {
  /** The hash of the saved file. */
  readonly hash: string;
  /** False if the editor has changed the text when it saved it. */
  readonly isAsGiven: boolean;
  /** A sentence about such a change, which begins with a space; otherwise empty. */
  readonly note: string;
}

/**
 * Changes a file that the user has not saved: the editor gets the new text and saves it, because a change on the disk would be lost
 * or conflict. Throws CONFLICT if the editor cannot do so.
 */
export async function writeThroughEditor(
  path: string,
  { text }: { readonly text: string },
  context: ToolContext,
): Promise<EditorWrite> {
  const shown = displayPath(path, context.cwd);
  const { editor, signal } = context;
  if (editor?.write === undefined) {
    const message = `${shown} has changes in the user's editor that are not saved: ask the user to save it, then Read it again.`;
    throw new MusterError('CONFLICT', message);
  }
  try {
    await editor.write(path, text, signal);
  } catch (thrown) {
    const message = `${shown}: the user's editor could not change it: ${errorMessage(thrown)}`;
    throw new MusterError('CONFLICT', message, { cause: thrown });
  }
  const { bytes, hash } = await readFullFile(path, context, { maxBytes: MAX_EDIT_BYTES, signal });
  const saved = decodeForEdit(shown, bytes).text;
  if (withNewlines(saved) === withNewlines(text)) return { hash, isAsGiven: true, note: '' };
  const note = ' The editor has changed the text when it saved it: Read it again before you go on.';
  return { hash, isAsGiven: false, note };
}
