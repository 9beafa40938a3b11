import type { TaskEvent } from '../../../protocol/events/event.ts';
import type { UiState } from './ui-state.ts';

/**
 * Why somebody who looks elsewhere is to be called: a task asks, or one that nobody waits for has ended. Null:
 * there is no need.
 */
export function callsForAttention(
  ui: Pick<UiState, 'background' | 'rows'>,
  event: TaskEvent,
): string | null {
  if (event.type === 'question.asked') {
    const { chain, kind, tool } = event.question;
    return `${chain.at(-1) ?? ''} asks${kind === 'permission' ? ` to run ${tool}` : ''}`;
  }
  if (event.type !== 'child.ended' || !ui.background.has(event.child)) return null;
  const row = ui.rows.get(event.child);
  return `${row?.agent ?? 'a task'} ${event.status}${row === undefined ? '' : `: ${row.description}`}`;
}
