import { plural } from '../../base/text.ts';
import { type CellEdit, type NotebookEditResult, applyEdit } from '../edit/apply-edit.ts';
import { formatLineNumbers } from '../shared/output.ts';
import { addCell, removeCell, replaceSource, rewriteCell } from './change-cells.ts';
import { cellName, findCell, type Cell, type Notebook } from './notebook.ts';

/** Applies an edit to a notebook. The sources of cells are edited as text. New lines in them end with `\n`. */
export function editNotebook(notebook: Notebook, edit: CellEdit): NotebookEditResult {
  const cell = edit.cell_id === undefined ? null : findCell(notebook, edit.cell_id);
  if (typeof cell === 'string') return createFailure(`${cell}.`);
  switch (edit.edit_mode ?? 'replace') {
    case 'insert':
      return insertCell(notebook, cell, edit);
    case 'delete':
      return deleteCell(notebook, cell, edit);
    case 'replace':
      return edit.old_string === ''
        ? replaceCell(notebook, cell, edit)
        : replaceText(notebook, cell, edit);
  }
}

function insertCell(notebook: Notebook, after: Cell | null, edit: CellEdit): NotebookEditResult {
  if (edit.old_string !== '')
    return createFailure('old_string: a new cell replaces no text; leave it out.');
  const type = edit.cell_type ?? 'code';
  const { text, id } = addCell(notebook, after, { type, source: edit.new_string });
  const name = cellName({ number: (after?.number ?? 0) + 1, id });
  return { ok: true, text, done: `inserted ${type} ${name}` };
}

function deleteCell(notebook: Notebook, cell: Cell | null, edit: CellEdit): NotebookEditResult {
  if (cell === null) return createFailure('cell_id: is missing; it must name the cell to delete.');
  if (edit.old_string !== '' || edit.new_string !== '') {
    return createFailure(
      'edit_mode delete removes the full cell: leave old_string and new_string out.',
    );
  }
  return { ok: true, text: removeCell(notebook, cell), done: `deleted ${cellName(cell)}` };
}

function replaceCell(notebook: Notebook, cell: Cell | null, edit: CellEdit): NotebookEditResult {
  if (cell === null) {
    return createFailure(
      'old_string is empty: give the text to replace, or cell_id for a full cell.',
    );
  }
  const { new_string: source, cell_type: type = cell.type } = edit;
  if (source === cell.source && type === cell.type) {
    return createFailure(`${cellName(cell)} has this source already: nothing to change.`);
  }
  const text =
    type === cell.type || edit.cell_type === undefined
      ? replaceSource(notebook, cell, source)
      : rewriteCell(notebook, cell, { source, type: edit.cell_type });
  const typeChange = type === cell.type ? '' : ` by a ${type} cell`;
  return { ok: true, text, done: `replaced ${cellName(cell)}${typeChange}` };
}

interface CellMatch {
  readonly cell: Cell;
  readonly source: string;
  readonly lines: readonly number[];
}

/**
 * Replaces a text that occurs once in the source of the named cell, or in the sources of all cells if `named` is null.
 */
function replaceText(notebook: Notebook, named: Cell | null, edit: CellEdit): NotebookEditResult {
  if (edit.cell_type !== undefined && edit.cell_type !== named?.type) {
    return createFailure(
      'cell_type: can only change when the full cell is replaced; leave old_string out.',
    );
  }
  if (edit.old_string === edit.new_string) {
    return createFailure('old_string and new_string are the same: nothing to change.');
  }
  const cells = named === null ? notebook.cells : [named];
  const everywhere = { ...edit, replace_all: true, expected_replacements: undefined };
  const matches = cells.flatMap((cell): CellMatch[] => {
    const result = cell.source === '' ? null : applyEdit(cell.source, everywhere, '\n');
    return result?.ok === true ? [{ cell, source: result.text, lines: result.lines }] : [];
  });
  const problem =
    matches.length === 0 ? describeMiss(cells, edit) : describeWrongCount(matches, edit);
  if (problem !== null) return createFailure(problem);
  // Replace from the last cell to the first, so that the positions of the remaining cells stay valid.
  const text = matches
    .toReversed()
    .reduce(
      (edited, { cell, source }) => replaceSource({ ...notebook, text: edited }, cell, source),
      notebook.text,
    );
  return { ok: true, text, done: matches.map(describeMatch).join('; ') };
}

function describeMatch({ cell, lines }: CellMatch): string {
  return `${plural(lines.length, 'replacement')} in ${cellName(cell)} at ${formatLineNumbers(lines)}`;
}

function describeWrongCount(matches: readonly CellMatch[], edit: CellEdit): string | null {
  const total = matches.reduce((sum, { lines }) => sum + lines.length, 0);
  const { expected_replacements: expected, replace_all: all = false } = edit;
  if (expected === undefined ? all || total === 1 : expected === total) return null;
  const where = matches.map(({ cell, lines }) => `${cellName(cell)} ${formatLineNumbers(lines)}`);
  const found = `old_string occurs ${plural(total, 'time')}, in ${where.join('; ')}`;
  return expected === undefined
    ? `${found}: give cell_id, add lines around it until it is unique, or set replace_all.`
    : `${found}, and expected_replacements is ${expected}.`;
}

/** Explains why a text was not found, with the nearest miss in one of the cells. */
function describeMiss(cells: readonly Cell[], edit: CellEdit): string {
  const misses = cells.flatMap((cell) => {
    const result = cell.source === '' ? null : applyEdit(cell.source, edit, '\n');
    return result?.ok === false ? [{ cell, problem: result.problem }] : [];
  });
  const near =
    misses.find(({ problem }) => problem.includes('would match except for')) ??
    misses.find(({ problem }) => problem.includes('\n'));
  if (near !== undefined) return `${cellName(near.cell)}: ${near.problem}`;
  const where = cells.length === 1 && cells[0] !== undefined ? cellName(cells[0]) : 'any cell';
  return `old_string was not found in ${where}. Edit only changes the sources of cells, as Read shows them; use Bash for the rest of the file.`;
}

function createFailure(problem: string): NotebookEditResult {
  return { ok: false, problem };
}
