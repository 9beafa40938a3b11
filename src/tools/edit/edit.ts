import { absolutePath, displayPath } from '../../sys/paths.ts';
import { MusterError } from '../../base/errors.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { plural } from '../../base/text.ts';
import type { ProposedEdit } from '../../protocol/question.ts';
import type { ToolContext, ToolOutput } from '../../protocol/tool.ts';
import { nameResolver, type ArgumentAliases } from '../shared/arguments.ts';
import { readForChange, writeChange } from '../shared/change-file.ts';
import { defineTool } from '../shared/define-tool.ts';
import { applyEdit, type TextEdit } from './apply-edit.ts';
import {
  CELL,
  EDIT,
  EDIT_ALIASES,
  FILE_PATH,
  FILE_PATH_ALIASES,
} from '../shared/common-arguments.ts';
import { decodeForEdit, encodeLike, type FileText } from '../shared/file-text.ts';
import { namedLines } from '../shared/named-lines.ts';
import { namesCells, type CellEdit, type NotebookResult } from '../notebook/cell-edit.ts';
import { isNotebookPath } from '../notebook/notebook-path.ts';
import { failure } from '../shared/output.ts';
import { withSuggestion } from '../shared/path-suggestions.ts';

const ALIASES: ArgumentAliases = { ...FILE_PATH_ALIASES, ...EDIT_ALIASES };

const tool = defineTool({
  name: 'Edit',
  kind: 'edit',
  replay: 'checkable',
  ownWords: true,
  description:
    'Replace an exact text in a file that you have read. old_string must match white space and all, without line numbers, and stand once in the file (or set replace_all).',
  input: {
    type: 'object',
    properties: { file_path: FILE_PATH, ...EDIT, ...CELL },
    required: ['file_path', 'old_string', 'new_string'],
    ignored: ['instruction', 'instructions'],
    fixed: { command: ['str_replace'], dry_run: [false] },
  },
  aliases: ALIASES,
  describe: (input, { cwd }) => accessOfEdit(input.file_path, cwd),
  proposes: ({ file_path, ...edit }, { cwd }) => proposedEdits(file_path, [edit], cwd),
  run: ({ file_path, ...edit }, context) => editFile(file_path, [edit], context),
});

/** A call that names a cell need not give the text that it replaces: the whole cell is meant. */
export const editTool: typeof tool = {
  ...tool,
  parse: (input) => tool.parse(isJsonObject(input) ? withWholeCell(input) : input),
};

function withWholeCell(input: JsonObject): JsonObject {
  const nameOf = nameResolver(['old_string', 'new_string', ...Object.keys(CELL)], ALIASES);
  const given = new Map(Object.entries(input).map(([key, value]) => [nameOf(key)?.name, value]));
  if (!Object.keys(CELL).some((name) => given.has(name))) return input;
  const isDeletion = given.get('edit_mode') === 'delete';
  return {
    ...input,
    ...(given.has('old_string') ? {} : { old_string: '' }),
    ...(isDeletion && !given.has('new_string') ? { new_string: '' } : {}),
  };
}

export function accessOfEdit(filePath: string, cwd: string) {
  const path = absolutePath(filePath, cwd);
  return { reads: [path], writes: [path], commands: [], hosts: [] };
}

export function proposedEdits(
  filePath: string,
  edits: readonly CellEdit[],
  cwd: string,
): readonly ProposedEdit[] {
  const path = absolutePath(filePath, cwd);
  return edits.map((edit) => ({ path, ...proposedTexts(edit), everywhere: isEverywhere(edit) }));
}

function isEverywhere({ replace_all, expected_replacements = 1 }: TextEdit): boolean {
  return replace_all ?? expected_replacements > 1;
}

/** Of a whole cell it is not known here what it holds: it is called by its name. */
function proposedTexts(edit: CellEdit): Pick<ProposedEdit, 'before' | 'after'> {
  const { old_string: before, new_string: after, cell_id: id, cell_type: type } = edit;
  if (before !== '' || !namesCells(edit)) return { before, after };
  switch (edit.edit_mode ?? 'replace') {
    case 'replace':
      return { before: `[all of cell ${id ?? '?'}]`, after };
    case 'delete':
      return { before: `[all of cell ${id ?? '?'}]`, after: '' };
    case 'insert': {
      const place = `[${id === undefined ? 'before the first cell' : `behind cell ${id}`}]`;
      return { before: place, after: `${place}\n[new ${type ?? 'code'} cell]\n${after}` };
    }
  }
}

/** Apply edits one after the other, each to what the one before left; all or none are written. */
export async function editFile(
  filePath: string,
  edits: readonly CellEdit[],
  context: ToolContext,
): Promise<ToolOutput> {
  const path = absolutePath(filePath, context.cwd);
  const shown = displayPath(path, context.cwd);
  const before = await readExisting(path, edits, context);
  const file = decodeForEdit(shown, before.bytes);
  const apply = isNotebookPath(before.file.real) ? await notebookEditor(file) : textEditor(file);
  let edited = file.text;
  const done: string[] = [];
  for (const [index, edit] of edits.entries()) {
    const which = edits.length === 1 ? '' : `edit ${index + 1} of ${edits.length}: `;
    const result = apply(edited, edit);
    if (!result.ok) {
      const { problem } = result;
      // Lines of the file stand alone.
      const unchanged = `${problem.includes('\n') ? '\n' : ' '}Nothing was changed.`;
      return failure('INVALID_PARAM', `${shown}: ${which}${problem}${unchanged}`);
    }
    edited = result.text;
    done.push(result.done);
  }
  const bytes = encodeLike(shown, edited, file);
  const content = { text: edited, former: file.text, bytes };
  const { change, lost } = await writeChange(path, before, content, context);
  return {
    text: `Edited ${shown}: ${done.join('; ')}.${lost}`,
    facts: { changed: [change] },
  };
}

type Editor = (text: string, edit: CellEdit) => NotebookResult;

function textEditor({ lineEnd }: FileText): Editor {
  return (text, edit) => {
    if (namesCells(edit)) return { ok: false, problem: NO_NOTEBOOK };
    const result = applyEdit(text, edit, lineEnd);
    if (!result.ok) return result;
    const { lines } = result;
    const done = `${plural(lines.length, 'replacement')} at ${namedLines(lines)}`;
    return { ok: true, text: result.text, done };
  };
}

const NO_NOTEBOOK =
  'cell_id, cell_type and edit_mode are for notebooks (.ipynb of nbformat 4), and this is none.';

/** Edits of a notebook are edits of its cells; a file that only has the name of one is edited as text. */
async function notebookEditor(file: FileText): Promise<Editor> {
  const { parseNotebook } = await import('../notebook/notebook.ts');
  const { editNotebook } = await import('../notebook/edit-notebook.ts');
  const asText = textEditor(file);
  return (text, edit) => {
    const notebook = parseNotebook(text);
    return notebook === null ? asText(text, edit) : editNotebook(notebook, edit);
  };
}

async function readExisting(path: string, edits: readonly CellEdit[], context: ToolContext) {
  try {
    return await readForChange(path, context);
  } catch (thrown) {
    const isMissing = thrown instanceof MusterError && thrown.code === 'NOT_FOUND';
    const [first] = edits;
    const fills = first?.old_string === '' && !namesCells(first);
    if (isMissing && fills) throw pointToWrite(path, context, thrown);
    throw withSuggestion(thrown, path, context);
  }
}

/** Making a file is for Write alone: rules that keep a task from Write do not bind Edit. */
function pointToWrite(path: string, { cwd }: ToolContext, cause: MusterError): MusterError {
  const message = `${displayPath(path, cwd)} does not exist. Edit changes files that exist: to make it, use Write with file_path and content.`;
  return new MusterError('NOT_FOUND', message, { cause });
}
