import type { TaskEvent } from '../../../protocol/event.ts';
import type { UiState } from './ui-state.ts';

/** Whether somebody who looks elsewhere is to be called: a task asks, or one that nobody waits for has ended. */
export function callsForAttention(ui: Pick<UiState, 'background'>, event: TaskEvent): boolean {
  if (event.type === 'question.asked') return true;
  return event.type === 'child.ended' && ui.background.has(event.child);
}
