import { readTree } from '../../../api/read-tree.ts';
import type { UiMuster } from '../model/ui-library.ts';
import { placeTask, type UiState } from '../model/task-tree.ts';

/** Tasks of earlier that stand in the tree; more are counted. */
const MOST_EARLIER = 600;

/**
 * Sets the tasks of an earlier conversation into the tree, from their logs; what events tell goes before
 * that. `changed` is called as they come.
 */
export async function placeEarlier(
  ui: UiState,
  store: UiMuster['store'],
  { root, changed }: { readonly root: string; readonly changed: () => void },
): Promise<void> {
  const passedOver = await readTree(store, root, {
    most: MOST_EARLIER,
    found: (state) => {
      // Another conversation may have taken its place meanwhile.
      if (ui.root !== root || ui.rows.has(state.spec.id)) return;
      placeTask(ui, state, { isAsking: false });
      changed();
    },
  });
  if (ui.root !== root) return;
  ui.droppedRows += passedOver.length;
  changed();
}
