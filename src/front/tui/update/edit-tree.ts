import type { AppState } from '../model/app-state.ts';
import type { EntryBody } from '../model/entry.ts';
import { copyTree, type TaskTree } from '../model/task-tree.ts';
import { addEntry } from '../model/transcript.ts';

/** The state with a changed copy of its task tree. `task` is set if the change concerns only this task. */
export function editTree(
  state: AppState,
  change: (tree: TaskTree) => void,
  task: string | null = null,
): AppState {
  const tree = copyTree(state.tree, task);
  change(tree);
  return { ...state, tree };
}

/** Adds an entry to the conversation. Returns its key with the new state. */
export function appendEntry(
  state: AppState,
  body: EntryBody,
): { readonly state: AppState; readonly key: number } {
  let key = 0;
  const changed = editTree(state, (tree) => {
    key = addEntry(tree.main, body);
  });
  return { state: changed, key };
}

/** Adds a note to the conversation. */
export function addNote(
  state: AppState,
  level: 'info' | 'warning' | 'error',
  text: string,
): AppState {
  return appendEntry(state, { kind: 'note', level, text }).state;
}
