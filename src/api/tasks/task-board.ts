import { foldLog } from '../../engine/task/fold-log.ts';
import { readBoard } from '../../engine/task/tree-board.ts';
import type { BoardFinding } from '../../protocol/board.ts';
import type { TaskStore } from '../../store/task-store.ts';

/** Returns the findings of the whole tree to which a task belongs, in the order in which they were posted. */
export function readTaskBoard(
  store: Pick<TaskStore, 'scan' | 'logPath'>,
  id: string,
): readonly BoardFinding[] {
  return readBoard(store, [foldLog(store, id).spec.root, id]);
}
