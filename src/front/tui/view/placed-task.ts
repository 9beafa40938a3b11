import { clockShift } from '../../../base/clock.ts';
import { taskRow } from './task-row.ts';
import { updateQuestions, type UiState } from './ui-state.ts';
import type { TaskState } from '../../../protocol/state/task-state.ts';

/**
 * A task as it stands by its log, where no event tells it: one of earlier, or one that its process has left.
 * `isAsking`: whether its open questions can be answered.
 */
export function placeTask(
  ui: UiState,
  state: TaskState,
  { isAsking }: { readonly isAsking: boolean },
): void {
  const shift = clockShift(ui.clock);
  const row = taskRow(state, shift);
  const { id, status } = row;
  const isLeft = row.endedAt === null && (status === 'interrupted' || status === 'parked');
  ui.rows.set(id, isLeft ? { ...row, endedAt: state.lifetime.newest.ts - shift } : row);
  for (const [child, { background }] of state.children) {
    if (background) ui.background.add(child);
    else ui.background.delete(child);
  }
  if (isAsking) updateQuestions(ui, state);
}
