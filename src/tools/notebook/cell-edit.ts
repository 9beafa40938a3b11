import type { TextEdit } from '../edit/apply-edit.ts';
import { extname } from 'node:path';

/** The cell types of nbformat. */
export type CellType = 'code' | 'markdown' | 'raw';

/** A change of a notebook: of text in its cells, or of a full cell. */
export interface CellEdit extends TextEdit {
  /** An id, or a number as shown by Read. */
  readonly cell_id?: string | undefined;
  readonly cell_type?: CellType | undefined;
  readonly edit_mode?: 'replace' | 'insert' | 'delete' | undefined;
}

/** The result of an edit of a notebook. */
export type NotebookEditResult =
  /** `done` describes the change for the result of the call. */
  | { readonly ok: true; readonly text: string; readonly done: string }
  | { readonly ok: false; readonly problem: string };

/** Whether an edit has an argument that only applies to notebooks. */
export function isCellEdit({ cell_id: id, cell_type: type, edit_mode: mode }: CellEdit): boolean {
  return id !== undefined || type !== undefined || mode !== undefined;
}

/** Whether a file has the name of a Jupyter notebook. */
export function isNotebookPath(path: string): boolean {
  return extname(path).toLowerCase() === '.ipynb';
}
