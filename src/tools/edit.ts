import { absolutePath, displayPath } from '../sys/paths.ts';
import { MusterError } from '../base/errors.ts';
import { plural } from '../base/text.ts';
import type { ProposedEdit } from '../protocol/question.ts';
import type { ToolContext, ToolOutput } from '../protocol/tool.ts';
import { readForChange, writeChange } from './change-file.ts';
import { defineTool } from './define.ts';
import { applyEdit, type TextEdit } from './edit-text.ts';
import { EDIT, EDIT_ALIASES, FILE_PATH, FILE_PATH_ALIASES } from './fields.ts';
import { decodeForEdit, encodeLike } from './file-text.ts';
import { namedLines } from './named-lines.ts';
import { failure } from './output.ts';
import { withSuggestion } from './paths.ts';

export const editTool = defineTool({
  name: 'Edit',
  kind: 'edit',
  replay: 'checkable',
  ownWords: true,
  description:
    'Replace an exact text in a file that you have read. old_string must match white space and all, without line numbers, and stand once in the file (or set replace_all).',
  input: {
    type: 'object',
    properties: { file_path: FILE_PATH, ...EDIT },
    required: ['file_path', 'old_string', 'new_string'],
    ignored: ['instruction', 'instructions'],
    fixed: { command: ['str_replace'], dry_run: [false] },
  },
  aliases: { ...FILE_PATH_ALIASES, ...EDIT_ALIASES },
  describe: (input, { cwd }) => accessOfEdit(input.file_path, cwd),
  proposes: ({ file_path, ...edit }, { cwd }) => proposedEdits(file_path, [edit], cwd),
  run: ({ file_path, ...edit }, context) => editFile(file_path, [edit], context),
});

export function accessOfEdit(filePath: string, cwd: string) {
  const path = absolutePath(filePath, cwd);
  return { reads: [path], writes: [path], commands: [], hosts: [] };
}

export function proposedEdits(
  filePath: string,
  edits: readonly TextEdit[],
  cwd: string,
): readonly ProposedEdit[] {
  const path = absolutePath(filePath, cwd);
  return edits.map(
    ({ old_string: before, new_string: after, replace_all, expected_replacements = 1 }) => ({
      path,
      before,
      after,
      everywhere: replace_all ?? expected_replacements > 1,
    }),
  );
}

/** Apply edits one after the other, each to what the one before left; all or none are written. */
export async function editFile(
  filePath: string,
  edits: readonly TextEdit[],
  context: ToolContext,
): Promise<ToolOutput> {
  const path = absolutePath(filePath, context.cwd);
  const shown = displayPath(path, context.cwd);
  const before = await readExisting(path, edits, context);
  const file = decodeForEdit(shown, before.bytes);
  let edited = file.text;
  const done: string[] = [];
  for (const [index, edit] of edits.entries()) {
    const which = edits.length === 1 ? '' : `edit ${index + 1} of ${edits.length}: `;
    const result = applyEdit(edited, edit, file.lineEnd);
    if (!result.ok) {
      const { problem } = result;
      // Lines of the file stand alone.
      const unchanged = `${problem.includes('\n') ? '\n' : ' '}Nothing was changed.`;
      return failure('INVALID_PARAM', `${shown}: ${which}${problem}${unchanged}`);
    }
    edited = result.text;
    done.push(`${plural(result.lines.length, 'replacement')} at ${namedLines(result.lines)}`);
  }
  const bytes = encodeLike(shown, edited, file);
  const content = { text: edited, former: file.text, bytes };
  const { change, lost } = await writeChange(path, before, content, context);
  return {
    text: `Edited ${shown}: ${done.join('; ')}.${lost}`,
    facts: { changed: [change] },
  };
}

async function readExisting(path: string, edits: readonly TextEdit[], context: ToolContext) {
  try {
    return await readForChange(path, context);
  } catch (thrown) {
    const isMissing = thrown instanceof MusterError && thrown.code === 'NOT_FOUND';
    if (isMissing && edits[0]?.old_string === '') throw pointToWrite(path, context, thrown);
    throw withSuggestion(thrown, path, context);
  }
}

/** Making a file is for Write alone: rules that keep a task from Write do not bind Edit. */
function pointToWrite(path: string, { cwd }: ToolContext, cause: MusterError): MusterError {
  const message = `${displayPath(path, cwd)} does not exist. Edit changes files that exist: to make it, use Write with file_path and content.`;
  return new MusterError('NOT_FOUND', message, { cause });
}
