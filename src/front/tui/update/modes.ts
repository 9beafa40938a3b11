import { PERMISSION_MODES, type PermissionMode } from '../../../protocol/permission.ts';
import type { AppState } from '../model/app-state.ts';
import { hasEnded } from '../model/task-row.ts';
import { rootRow } from '../model/task-tree.ts';
import { findEditQuestion } from './direct-answer.ts';
import { type ActionHandlers, hint, next, type Update, type UpdateContext } from './step.ts';

/** The handler of the key that changes the permission mode. */
export const MODE_ACTIONS = { 'cycle-mode': cycleMode } satisfies ActionHandlers;

/** The time for which a mode must stay chosen before it takes effect, so that passing through a mode has no effect. */
const MODE_PAUSE_MS = 600;

/**
 * Changes to the next permission mode: after a short pause if the conversation is at work, otherwise for the next
 * message. In the question of an edit, allows the edit and accepts edits from then on.
 */
function cycleMode(state: AppState, context: UpdateContext): Update {
  const { library } = context;
  // A user who is passing through the modes goes on doing so.
  const edit = state.pendingMode === null ? findEditQuestion(state, context.now()) : null;
  if (edit !== null) {
    const answer = { question: edit, text: 'edits' };
    return next(state, { type: 'answer-question', answer, typed: null });
  }
  if (state.conversation.isWatched)
    return hint(state, 'the mode can be changed only where the conversation runs');
  const row = rootRow(state.tree);
  if (row === undefined || hasEnded(row)) {
    const [mode = null] = modesAfter(state.chosenMode ?? row?.mode ?? library.mode);
    return next({ ...state, chosenMode: mode });
  }
  const [mode = row.mode] = modesAfter(state.pendingMode?.mode ?? row.mode);
  const at = context.now();
  return next(
    { ...state, pendingMode: { mode, at } },
    { type: 'dispatch-later', message: { type: 'mode-settled', at }, ms: MODE_PAUSE_MS },
  );
}

/** Sets the mode that the user has chosen and does not go on from, or the next mode that the agent may have. */
export function settleMode(state: AppState): Update {
  const { pendingMode, tree } = state;
  if (pendingMode === null) return next(state);
  const { mode } = pendingMode;
  const settled: AppState = { ...state, pendingMode: null };
  const row = rootRow(tree);
  if (row === undefined || hasEnded(row)) return next({ ...settled, chosenMode: mode });
  if (row.mode === mode) return next(settled);
  return next(settled, { type: 'set-mode', task: row.id, modes: [mode, ...modesAfter(mode)] });
}

/** Sets a mode: at once if the conversation is at work, otherwise for the next message. */
export function chooseMode(state: AppState, mode: PermissionMode): Update {
  return settleMode({ ...state, pendingMode: { mode, at: 0 } });
}

/** Lists all other modes in the order in which the key changes to them. The narrowest mode follows the widest. */
export function modesAfter(mode: PermissionMode): readonly PermissionMode[] {
  const index = PERMISSION_MODES.indexOf(mode);
  return [...PERMISSION_MODES.slice(index + 1), ...PERMISSION_MODES.slice(0, index)];
}
