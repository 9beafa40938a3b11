import type { AppState } from '../model/app-state.ts';
import type { BlockBody } from '../model/block.ts';
import { copyTree, type TaskTree } from '../model/task-tree.ts';
import { addBlock } from '../model/transcript.ts';

/** The state with a changed copy of its task tree. */
export function editTree(state: AppState, change: (tree: TaskTree) => void): AppState {
  const tree = copyTree(state.tree);
  change(tree);
  return { ...state, tree };
}

/** Adds an entry to the conversation. Returns its key with the new state. */
export function addEntry(
  state: AppState,
  body: BlockBody,
): { readonly state: AppState; readonly key: number } {
  let key = 0;
  const changed = editTree(state, (tree) => {
    key = addBlock(tree.main, body);
  });
  return { state: changed, key };
}

/** Adds a note to the conversation. */
export function addNote(
  state: AppState,
  level: 'info' | 'warning' | 'error',
  text: string,
): AppState {
  return addEntry(state, { kind: 'note', level, text }).state;
}
