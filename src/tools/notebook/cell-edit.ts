import type { TextEdit } from '../edit/apply-edit.ts';

/** Types of cells, as nbformat has them. */
export type CellType = 'code' | 'markdown' | 'raw';

/** A change of a notebook: of a text in its cells, or of a whole cell. */
export interface CellEdit extends TextEdit {
  /** An id, or a number as Read shows it. */
  readonly cell_id?: string | undefined;
  readonly cell_type?: CellType | undefined;
  readonly edit_mode?: 'replace' | 'insert' | 'delete' | undefined;
}

export type NotebookResult =
  /** `done`: what was done, for the result of the call. */
  | { readonly ok: true; readonly text: string; readonly done: string }
  | { readonly ok: false; readonly problem: string };

/** Whether an edit says something that only a notebook has. */
export function namesCells({ cell_id: id, cell_type: type, edit_mode: mode }: CellEdit): boolean {
  return id !== undefined || type !== undefined || mode !== undefined;
}
