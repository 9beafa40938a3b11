import { plural } from '../../../base/text.ts';
import { hasEnded } from '../model/task-row.ts';
import type { UiState } from '../model/task-tree.ts';

/** What Esc does. */
export interface Interrupt {
  /** The conversation whose turn it ends, with what that waits for; null: none. */
  readonly interrupts: string | null;
  /** The task that it stops, with all below it; null: none. */
  readonly stops: string | null;
  /** Whether the same key stops the whole tree next. */
  readonly arms: boolean;
  readonly hint: string | null;
}

const NOTHING: Interrupt = { interrupts: null, stops: null, arms: false, hint: null };

/** The task that is looked into is stopped. The main task's turn is ended; again: the whole tree is stopped. */
export function interrupt(
  ui: UiState,
  { openTask, isArmed }: { readonly openTask: string | null; readonly isArmed: boolean },
): Interrupt {
  const at = openTask ?? ui.root;
  const row = at === null ? undefined : ui.rows.get(at);
  if (at === null || row === undefined || hasEnded(row)) return NOTHING;
  if (openTask !== null) return { ...NOTHING, stops: at, hint: 'stopping it' };
  if (isArmed) return { ...NOTHING, stops: at, hint: 'stopping everything' };
  const inBackground = [...ui.rows.values()].filter(
    (child) => child.parent === at && !hasEnded(child) && ui.background.has(child.id),
  ).length;
  const hint =
    inBackground === 0
      ? 'stopping'
      : `interrupted; again stops ${plural(inBackground, 'background task')}, too`;
  return { interrupts: at, stops: null, arms: true, hint };
}

/** What is sent to the background: the task that is looked into, or all that the main task waits for. */
export function toBackground(ui: UiState, openTask: string | null): readonly string[] {
  const waitedFor = (id: string) => !ui.background.has(id);
  if (openTask !== null) return waitedFor(openTask) ? [openTask] : [];
  return [...ui.rows.values()]
    .filter((row) => row.parent === ui.root && !hasEnded(row) && waitedFor(row.id))
    .map(({ id }) => id);
}
