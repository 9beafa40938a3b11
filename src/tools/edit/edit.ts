import { MusterError } from '../../base/errors.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { plural } from '../../base/text.ts';
import { NO_ACCESS } from '../../protocol/permission.ts';
import type { ProposedEdit } from '../../protocol/question.ts';
import type { ToolContext, ToolOutput } from '../../protocol/tool.ts';
import { toAbsolutePath, displayPath } from '../../sys/files/paths.ts';
import { createNameResolver, type ArgumentAliases } from '../shared/arguments.ts';
import { readForChange, writeChange } from '../shared/change-file.ts';
import {
  CELL_FIELDS,
  EDIT_FIELDS,
  EDIT_ALIASES,
  FILE_PATH,
  FILE_PATH_ALIASES,
  defineBuiltinTool,
} from '../shared/define-tool.ts';
import { decodeForEdit, encodeLikeFile, type DecodedFile } from '../shared/file-text.ts';
import { formatLineNumbers, failure } from '../shared/output.ts';
import { addPathSuggestion } from '../shared/path-suggestions.ts';
import {
  isCellEdit,
  type CellEdit,
  type NotebookEditResult,
  isNotebookPath,
  applyEdit,
  type TextEdit,
} from './apply-edit.ts';

const ALIASES: ArgumentAliases = { ...FILE_PATH_ALIASES, ...EDIT_ALIASES };

const tool = defineBuiltinTool({
  name: 'Edit',
  kind: 'edit',
  replay: 'checkable',
  ownWords: true,
  description:
    'Replace a text in a file that you have read. old_string must match exactly, white space too, without line numbers, and only once unless replace_all is set.',
  input: {
    type: 'object',
    properties: { file_path: FILE_PATH, ...EDIT_FIELDS, ...CELL_FIELDS },
    required: ['file_path', 'old_string', 'new_string'],
    ignored: ['instruction', 'instructions'],
    fixed: { command: ['str_replace'], dry_run: [false] },
  },
  aliases: ALIASES,
  describe: (input, { cwd }) => describeEditAccess(input.file_path, cwd),
  proposes: ({ file_path, ...edit }, { cwd }) => proposeEdits(file_path, [edit], cwd),
  run: ({ file_path, ...edit }, context) => editFile(file_path, [edit], context),
});

/**
 * The Edit tool. In a call that names a notebook cell, old_string may be absent. Such a call replaces the full cell.
 */
export const editTool: typeof tool = {
  ...tool,
  parse: (input) => tool.parse(isJsonObject(input) ? addDefaultTexts(input) : input),
};

function addDefaultTexts(input: JsonObject): JsonObject {
  const resolveName = createNameResolver(
    ['old_string', 'new_string', ...Object.keys(CELL_FIELDS)],
    ALIASES,
  );
  const argumentsByName = new Map(
    Object.entries(input).map(([key, value]) => [resolveName(key)?.name, value]),
  );
  if (!Object.keys(CELL_FIELDS).some((name) => argumentsByName.has(name))) return input;
  const isDeletion = argumentsByName.get('edit_mode') === 'delete';
  return {
    ...input,
    ...(argumentsByName.has('old_string') ? {} : { old_string: '' }),
    ...(isDeletion && !argumentsByName.has('new_string') ? { new_string: '' } : {}),
  };
}

/** Describes the access that an edit of a file needs. */
function describeEditAccess(filePath: string, cwd: string) {
  const path = toAbsolutePath(filePath, cwd);
  return { ...NO_ACCESS, reads: [path], writes: [path] };
}

/** Describes the changes that edits would make, for the person who is asked for permission. */
function proposeEdits(
  filePath: string,
  edits: readonly CellEdit[],
  cwd: string,
): readonly ProposedEdit[] {
  const path = toAbsolutePath(filePath, cwd);
  return edits.map((edit) => ({
    path,
    ...proposedTexts(edit),
    everywhere: replacesEverywhere(edit),
  }));
}

function replacesEverywhere({ replace_all, expected_replacements = 1 }: TextEdit): boolean {
  return replace_all ?? expected_replacements > 1;
}

/**
 * Returns the texts before and after an edit. The file has not been read yet, so the name of a full cell stands for its
 * content.
 */
function proposedTexts(edit: CellEdit): Pick<ProposedEdit, 'before' | 'after'> {
  const { old_string: before, new_string: after, cell_id: id, cell_type: type } = edit;
  if (before !== '' || !isCellEdit(edit)) return { before, after };
  switch (edit.edit_mode ?? 'replace') {
    case 'replace':
      return { before: `[all of cell ${id ?? '?'}]`, after };
    case 'delete':
      return { before: `[all of cell ${id ?? '?'}]`, after: '' };
    case 'insert': {
      const position = `[${id === undefined ? 'before the first cell' : `after cell ${id}`}]`;
      return { before: position, after: `${position}\n[new ${type ?? 'code'} cell]\n${after}` };
    }
  }
}

/**
 * Applies edits in order, each to the result of the edit before it. Writes the result of all edits, or nothing if an
 * edit fails.
 */
async function editFile(
  filePath: string,
  edits: readonly CellEdit[],
  context: ToolContext,
): Promise<ToolOutput> {
  const path = toAbsolutePath(filePath, context.cwd);
  const shown = displayPath(path, context.cwd);
  const before = await readExisting(path, edits, context);
  const file = decodeForEdit(shown, before.bytes);
  const apply = isNotebookPath(before.file.real)
    ? await createNotebookEditor(file)
    : createTextEditor(file);
  let edited = file.text;
  const done: string[] = [];
  for (const [index, edit] of edits.entries()) {
    const which = edits.length === 1 ? '' : `edit ${index + 1} of ${edits.length}: `;
    const result = apply(edited, edit);
    if (!result.ok) {
      const { problem } = result;
      // If the problem quotes lines of the file, this sentence begins on a new line.
      const unchanged = `${problem.includes('\n') ? '\n' : ' '}Nothing was changed.`;
      return failure('INVALID_PARAM', `${shown}: ${which}${problem}${unchanged}`);
    }
    edited = result.text;
    done.push(result.done);
  }
  const bytes = encodeLikeFile(shown, edited, file);
  const content = { text: edited, previous: file.text, bytes };
  const { change, lost } = await writeChange(path, before, content, context);
  return { text: `Edited ${shown}: ${done.join('; ')}.${lost}`, facts: { changed: [change] } };
}

type Editor = (text: string, edit: CellEdit) => NotebookEditResult;

function createTextEditor({ lineEnd }: DecodedFile): Editor {
  return (text, edit) => {
    if (isCellEdit(edit)) return { ok: false, problem: NOT_A_NOTEBOOK };
    const result = applyEdit(text, edit, lineEnd);
    if (!result.ok) return result;
    const { lines } = result;
    const done = `${plural(lines.length, 'replacement')} at ${formatLineNumbers(lines)}`;
    return { ok: true, text: result.text, done };
  };
}

const NOT_A_NOTEBOOK =
  'cell_id, cell_type and edit_mode are for notebooks (.ipynb of nbformat 4), and this file is not one.';

/**
 * Creates an editor for the cells of a notebook. A file that has the name of a notebook but another format is edited as
 * text.
 */
async function createNotebookEditor(file: DecodedFile): Promise<Editor> {
  const { parseNotebook } = await import('../notebook/notebook.ts');
  const { editNotebook } = await import('../notebook/edit-notebook.ts');
  const editAsText = createTextEditor(file);
  return (text, edit) => {
    const notebook = parseNotebook(text);
    return notebook === null ? editAsText(text, edit) : editNotebook(notebook, edit);
  };
}

async function readExisting(path: string, edits: readonly CellEdit[], context: ToolContext) {
  try {
    return await readForChange(path, context);
  } catch (thrown) {
    const isMissing = thrown instanceof MusterError && thrown.code === 'NOT_FOUND';
    const [first] = edits;
    const fillsFile = first?.old_string === '' && !isCellEdit(first);
    if (isMissing && fillsFile) throw missingFileError(path, context, thrown);
    throw addPathSuggestion(thrown, path, context);
  }
}

/**
 * Creates the error for an edit that would create a file. Only Write may create files, because a permission rule may
 * forbid Write and allow Edit.
 */
function missingFileError(path: string, { cwd }: ToolContext, cause: MusterError): MusterError {
  const message = `${displayPath(path, cwd)} does not exist. Edit only changes existing files: use Write with file_path and content to make it.`;
  return new MusterError('NOT_FOUND', message, { cause });
}

export const multiEditTool = defineBuiltinTool({
  name: 'MultiEdit',
  kind: 'edit',
  replay: 'checkable',
  ownWords: true,
  description: 'Several Edits of one file, each applied to what the one before left: all or none.',
  input: {
    type: 'object',
    properties: {
      file_path: FILE_PATH,
      edits: {
        type: 'array',
        minItems: 1,
        items: {
          type: 'object',
          properties: { ...EDIT_FIELDS, ...CELL_FIELDS },
          required: ['old_string', 'new_string'],
        },
      },
    },
    required: ['file_path', 'edits'],
    fixed: { dry_run: [false] },
  },
  aliases: { ...FILE_PATH_ALIASES, ...EDIT_ALIASES, changes: 'edits', edit: 'edits' },
  describe: (input, { cwd }) => describeEditAccess(input.file_path, cwd),
  proposes: ({ file_path, edits }, { cwd }) => proposeEdits(file_path, edits, cwd),
  run: ({ file_path, edits }, context) => editFile(file_path, edits, context),
});
