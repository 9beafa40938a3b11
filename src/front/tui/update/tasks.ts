import { plural } from '../../../base/text.ts';
import type { AppState } from '../model/app-state.ts';
import { type DisplayedTree, treeRows } from '../model/task-tree.ts';
import { hasEnded, type TaskRow } from '../model/task-row.ts';
import {
  type ActionHandlers,
  type UpdateContext,
  andThen,
  hint,
  next,
  setEditorText,
  type Update,
  leaveQuestion,
} from './step.ts';
import { followEnd, leaveEntries } from './scroll.ts';
import { endSearch } from './search.ts';

/** The handlers of the keys that act on tasks, in the tree and in the conversation. */
export const TASK_ACTIONS = {
  'focus-tasks': focusTasks,
  'choose-up': (state) => next(chooseTask(state, -1)),
  'choose-down': (state) => next(chooseTask(state, 1)),
  'open-task': openChosenTask,
  'stop-task': stopChosenTask,
  'resume-task': resumeChosenTask,
  'background-task': (state) =>
    moveToBackground(state, state.chosenTask === null ? [] : [state.chosenTask]),
  background: (state) => moveToBackground(state, findForegroundTasks(state.tree, state.openTask)),
  interrupt: (state, _context, armed) =>
    state.isShellRunning ? stopShell(state) : interruptTask(state, armed === 'stop-tree'),
  leave: leaveOrClear,
  'leave-empty': leaveOrClear,
  back: goBack,
} satisfies ActionHandlers;

function focusTasks(state: AppState): Update {
  if (state.focus === 'tasks') return next({ ...state, focus: 'editor' });
  const { root } = state.tree;
  if (root === null) return hint(state, 'there are no tasks yet');
  return andThen(leaveQuestion(state), (left) =>
    next({ ...left, focus: 'tasks', chosenTask: left.openTask ?? left.chosenTask ?? root }),
  );
}

function chooseTask(state: AppState, by: number): AppState {
  const ids = treeRows(state.tree).map(({ row }) => row.id);
  const index = ids.indexOf(state.chosenTask ?? '') + by;
  return { ...state, chosenTask: ids[Math.min(Math.max(index, 0), ids.length - 1)] ?? null };
}

/** Opens the selected task. Its transcript is read from its log and then follows its events. */
function openChosenTask(state: AppState): Update {
  const { chosenTask, tree } = state;
  return andThen(closeTask({ ...state, focus: 'editor' }), (closed) =>
    chosenTask === null || chosenTask === tree.root
      ? next(closed)
      : next(closed, { type: 'open-task', task: chosenTask }),
  );
}

/** Returns to the conversation. */
export function closeTask(state: AppState): Update {
  return andThen(endSearch(state), (ended) => {
    const left = ended.focus === 'entries' ? leaveEntries(ended) : ended;
    const atEnd = followEnd({ ...left, toggled: new Set(), chosenEntry: null });
    return next({ ...atEnd, openTask: null, tree: { ...atEnd.tree, opened: null } });
  });
}

function chosenRow({ tree, chosenTask }: AppState): TaskRow | undefined {
  return chosenTask === null ? undefined : tree.rows.get(chosenTask);
}

function stopChosenTask(state: AppState): Update {
  const row = chosenRow(state);
  if (row === undefined) return next(state);
  if (hasEnded(row)) return hint(state, 'the task has already ended');
  return next({ ...state, hint: 'stopping the task' }, { type: 'stop-task', task: row.id });
}

function resumeChosenTask(state: AppState): Update {
  const row = chosenRow(state);
  if (row === undefined) return next(state);
  if (!hasEnded(row)) {
    const advice = 'press enter to open it, then type a message for it';
    return hint(state, `the task has not ended: ${advice}`);
  }
  if (row.id === state.tree.root) return hint(state, 'type a message to continue the conversation');
  const text = `${row.agent} ${row.id.slice(0, 6)} continues in the background`;
  return next({ ...state, hint: text }, { type: 'resume-task', task: row.id });
}

function moveToBackground(state: AppState, tasks: readonly string[]): Update {
  if (tasks.length === 0) return hint(state, 'nothing runs in the foreground');
  return next(
    { ...state, hint: `${plural(tasks.length, 'task')} sent to the background` },
    { type: 'move-to-background', tasks },
  );
}

/** Finds the tasks that Ctrl+B sends to the background: the open task, or all tasks that the main task waits for. */
export function findForegroundTasks(
  { rows, background, root }: Pick<DisplayedTree, 'rows' | 'background' | 'root'>,
  openTask: string | null,
): readonly string[] {
  if (openTask !== null) return background.has(openTask) ? [] : [openTask];
  return [...rows.values()]
    .filter((row) => row.parent === root && !hasEnded(row) && !background.has(row.id))
    .map(({ id }) => id);
}

function stopShell(state: AppState): Update {
  return next({ ...state, hint: 'stopping the command' }, { type: 'stop-shell' });
}

/**
 * Handles Esc while a task is at work. Stops the open task, if there is one. Otherwise ends the turn of the main task
 * with everything that the turn waits for; if the key is pressed again, stops the complete tree.
 */
export function interruptTask(state: AppState, isArmed: boolean): Update {
  const { tree, openTask, conversation } = state;
  const task = openTask ?? tree.root;
  const row = task === null ? undefined : tree.rows.get(task);
  if (task === null || row === undefined || hasEnded(row)) return next({ ...state, hint: null });
  const stop = { type: 'stop-task', task } as const;
  if (openTask !== null) return next({ ...state, hint: 'stopping the task' }, stop);
  if (isArmed) return next({ ...state, hint: 'stopping everything' }, stop);
  if (conversation.isWatched) {
    // One key must not stop the work of another process.
    const text = 'press esc again to stop it and all tasks below it, where they run';
    return next({ ...state, armed: 'stop-tree', hint: text });
  }
  const inBackground = [...tree.rows.values()].filter(
    (child) => child.parent === task && !hasEnded(child) && tree.background.has(child.id),
  ).length;
  const text =
    inBackground === 0
      ? 'stopping'
      : `interrupted; press it again to stop ${plural(inBackground, 'background task')}, too`;
  return next({ ...state, armed: 'stop-tree', hint: text }, { type: 'interrupt-task', task });
}

/** Handles Ctrl+C: stops a running shell command, otherwise clears the editor. Leaves when the key is pressed again. */
function leaveOrClear(state: AppState, _context: UpdateContext, armed: AppState['armed']): Update {
  if (state.typed === '' && state.isShellRunning) return stopShell(state);
  if (armed === 'leave') return next(state, { type: 'leave' });
  const text = state.conversation.isWatched
    ? 'press it again to leave; the watched tasks continue'
    : 'press it again to stop everything and leave; it can be resumed';
  return setEditorText({ ...state, armed: 'leave', hint: text }, '');
}

/** Handles Esc when there is nothing to interrupt: closes the search, the selection, the question or the open task. */
function goBack(state: AppState): Update {
  const { writing, focus } = state;
  if (writing.kind === 'search') return endSearch(state);
  if (focus === 'entries') return next(leaveEntries(state));
  if (writing.kind !== 'message' || focus === 'question') return leaveQuestion(state);
  if (focus === 'tasks') return next({ ...state, focus: 'editor' });
  return closeTask(state);
}
