import { plural } from '../../../base/text.ts';
import { hasEnded } from '../view/task-row.ts';
import type { UiState } from '../view/ui-state.ts';

/** What Esc stops. */
export interface Interrupt {
  /** Ids, each with all below it. */
  readonly stop: readonly string[];
  /** Whether the same key stops the whole tree next. */
  readonly arms: boolean;
  readonly hint: string | null;
}

const NOTHING: Interrupt = { stop: [], arms: false, hint: null };

/**
 * The task that is looked into; otherwise the main task with all that it waits for. A task can't be stopped
 * without all below it: so while some of that is in the background, only what it waits for is stopped, its
 * turn goes on with that, and the same key again stops the whole tree.
 */
export function interrupt(
  ui: UiState,
  { openTask, isArmed }: { readonly openTask: string | null; readonly isArmed: boolean },
): Interrupt {
  const rows = [...ui.rows.values()].filter((row) => !hasEnded(row));
  if (openTask !== null) {
    const isThere = rows.some(({ id }) => id === openTask);
    return isThere ? { stop: [openTask], arms: false, hint: 'stopping it' } : NOTHING;
  }
  const { root } = ui;
  if (root === null || !rows.some(({ id }) => id === root)) return NOTHING;
  const children = rows.filter(({ parent }) => parent === root);
  const background = children.filter(({ id }) => ui.background.has(id)).length;
  if (isArmed || background === 0) return { stop: [root], arms: false, hint: 'stopping' };
  const waitedFor = children.filter(({ id }) => !ui.background.has(id)).map(({ id }) => id);
  const stopped = waitedFor.length === 0 ? '' : `${plural(waitedFor.length, 'task')} stopped; `;
  return {
    stop: waitedFor,
    arms: true,
    hint: `${stopped}esc again stops everything, ${background} in the background, too`,
  };
}

/** What is sent to the background: the task that is looked into, or all that the main task waits for. */
export function toBackground(ui: UiState, openTask: string | null): readonly string[] {
  const waitedFor = (id: string) => !ui.background.has(id);
  if (openTask !== null) return waitedFor(openTask) ? [openTask] : [];
  return [...ui.rows.values()]
    .filter((row) => row.parent === ui.root && !hasEnded(row) && waitedFor(row.id))
    .map(({ id }) => id);
}
