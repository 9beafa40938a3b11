import { plural } from '../../../base/text.ts';
import type { AppState } from '../model/app-state.ts';
import type { Bindings } from '../model/key-bindings.ts';
import { keysOf } from '../model/key-names.ts';
import {
  closeTranscript,
  findForegroundTasks,
  rootRow,
  type DisplayedTree,
  treeRows,
} from '../model/task-tree.ts';
import { hasEnded, type TreeTask } from '../model/task-row.ts';
import {
  type ActionHandlers,
  type UpdateContext,
  addNote,
  andThen,
  arm,
  editTree,
  hint,
  next,
  setEditorText,
  type Update,
  leaveQuestion,
} from './step.ts';
import { followEnd, leaveEntries } from './scroll.ts';
import { closePager } from './pager.ts';
import { endSearch } from './search.ts';
import { closePicker } from './open-picker.ts';

/** The handlers of the keys that act on tasks, in the tree and in the conversation. */
export const TASK_ACTIONS = {
  'focus-tasks': focusTasks,
  'choose-up': (state) => next(chooseTask(state, -1)),
  'choose-down': (state) => next(chooseTask(state, 1)),
  'open-task': openChosenTask,
  'stop-task': (state, context, armed) => stopFocusedTask(state, armed, context),
  'resume-task': resumeChosenTask,
  'background-task': (state) =>
    moveToBackground(state, state.chosenTask === null ? [] : [state.chosenTask]),
  background: (state) => moveToBackground(state, findForegroundTasks(state.tree, state.openTask)),
  interrupt: (state, context, armed) =>
    state.awaitedServers.length > 0
      ? next(state, { type: 'skip-servers' })
      : state.isShellRunning
        ? stopShell(state)
        : interruptTask(state, armed, context),
  'stop-focused': (state, context, armed) => stopFocusedTask(state, armed, context),
  'take-back': (state) => next(state, { type: 'withdraw-messages', from: state.openTask }),
  leave: (state, context, armed) => leaveOrClear(state, { ...context, armed, action: 'leave' }),
  'leave-empty': (state, context, armed) =>
    leaveOrClear(state, { ...context, armed, action: 'leave-empty' }),
  back: goBack,
} satisfies ActionHandlers;

/** The handlers of keys that move the selection in the tree while it has the focus; otherwise they scroll the conversation. */
export const TREE_SCROLL_ACTIONS = {
  'page-up': (state) => next(chooseTask(state, 1 - state.paneHeight)),
  'page-down': (state) => next(chooseTask(state, state.paneHeight - 1)),
  'to-end': (state) => next(chooseTask(state, Infinity)),
} as const satisfies ActionHandlers;

/** Gives the tree the focus. The first child at work is chosen, because it is probably the one that the user wants to see. */
function focusTasks(state: AppState): Update {
  if (state.focus === 'tasks') return next({ ...state, focus: 'editor' });
  const { root } = state.tree;
  if (root === null) return hint(state, 'there are no tasks yet');
  return andThen(leaveQuestion(state), (left) => {
    const chosen = chosenRow(left);
    const kept = chosen !== undefined && !hasEnded(chosen) ? chosen.id : null;
    const found = left.openTask ?? kept ?? firstChildAtWork(left.tree) ?? left.chosenTask ?? root;
    return next({ ...left, focus: 'tasks', chosenTask: found });
  });
}

function firstChildAtWork(tree: DisplayedTree): string | null {
  const child = treeRows(tree).find(({ row, level }) => level > 0 && !hasEnded(row));
  return child?.row.id ?? null;
}

/**
 * Settles the tree after the end of a task. Once no child is at work any more, the editor gets the keys back, because the
 * user would otherwise type a message into the tree.
 */
export function settleTree(before: AppState, after: AppState): AppState {
  const settled = after.hint === STOPPING ? { ...after, hint: null } : after;
  if (settled.focus !== 'tasks' || firstChildAtWork(settled.tree) !== null) return settled;
  return firstChildAtWork(before.tree) === null ? settled : { ...settled, focus: 'editor' };
}

function chooseTask(state: AppState, by: number): AppState {
  const ids = treeRows(state.tree).map(({ row }) => row.id);
  const index = ids.indexOf(state.chosenTask ?? '') + by;
  return { ...state, chosenTask: ids[Math.min(Math.max(index, 0), ids.length - 1)] ?? null };
}

/** Opens the selected task. Its transcript is read from its log and then follows its events. */
function openChosenTask(state: AppState): Update {
  const { chosenTask } = state;
  const left: AppState = { ...state, focus: 'editor' };
  return chosenTask === null ? closeTask(left) : openTask(left, chosenTask);
}

/** Opens a task; returns to the conversation if it is the main task. */
export function openTask(state: AppState, task: string): Update {
  return andThen(closeTask(state), (closed) =>
    task === closed.tree.root ? next(closed) : next(closed, { type: 'open-task', task }),
  );
}

/** Returns to the conversation. */
export function closeTask(state: AppState): Update {
  return andThen(endSearch(state), (ended) => {
    const left = ended.focus === 'entries' ? leaveEntries(ended) : ended;
    const atEnd = followEnd({ ...left, toggled: new Set(), chosenEntry: null });
    return next(editTree({ ...atEnd, openTask: null }, closeTranscript));
  });
}

function chosenRow({ tree, chosenTask }: AppState): TreeTask | undefined {
  return chosenTask === null ? undefined : tree.rows.get(chosenTask);
}

/** The message between a stop and the end of the task. */
export const STOPPING = 'stopping the task';

/** The number of turns from which a stop asks once more, because much work would be lost. */
const TURNS_WORTH_ASKING = 5;

/**
 * Stops the selected task of the tree, or the open task. Asks once more if much would be lost: the task has taken many
 * turns, or has children at work, or belongs to another process.
 */
function stopFocusedTask(
  state: AppState,
  armed: AppState['armed'],
  { bindings }: Pick<UpdateContext, 'bindings'>,
): Update {
  const { tree, focus, chosenTask, openTask } = state;
  const id = focus === 'tasks' ? chosenTask : openTask;
  const row = id === null ? undefined : tree.rows.get(id);
  if (row === undefined) {
    const [key = 'the tree'] = keysOf(bindings, 'focus-tasks');
    return hint(state, `open a task or choose one (${key}) to stop it`);
  }
  if (hasEnded(row)) return hint(state, 'the task has already ended');
  const loss = describeLoss(row, state.conversation.isWatched);
  if (loss !== null && armed !== 'stop-focused') {
    return arm(state, 'stop-focused', { hint: `${loss}: press it again to stop it` });
  }
  return next({ ...state, hint: STOPPING }, { type: 'stop-task', task: row.id });
}

/** Describes what a stop of a task would lose; null if that is little. */
function describeLoss(
  { agent, turns, openChildren }: Pick<TreeTask, 'agent' | 'openChildren' | 'turns'>,
  isWatched: boolean,
): string | null {
  const lost = [
    ...(turns > TURNS_WORTH_ASKING ? [`has taken ${plural(turns, 'turn')}`] : []),
    ...(openChildren.size > 0 ? [`has ${plural(openChildren.size, 'task')} at work`] : []),
    ...(isWatched ? ['runs in another process'] : []),
  ];
  return lost.length === 0 ? null : `${agent} ${lost.join(' and ')}`;
}

/**
 * Puts messages that were taken back into the editor, before the text that is typed there. An empty list means that a
 * request had taken them already.
 */
export function restoreMessages(state: AppState, texts: readonly string[]): Update {
  if (texts.length === 0) {
    return hint(state, 'too late: the model has been sent the message');
  }
  if (state.surface === 'lines') {
    return next(
      texts.reduce((noted, text) => addNote(noted, 'info', `taken back: ${text}`), state),
    );
  }
  const all = state.typed === '' ? texts : [...texts, state.typed];
  const text = `${plural(texts.length, 'message')} taken back`;
  return andThen(hint(state, text), (hinted) => setEditorText(hinted, all.join('\n\n')));
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

function stopShell(state: AppState): Update {
  return next({ ...state, hint: 'stopping the command' }, { type: 'stop-shell' });
}

/**
 * Handles Esc in the conversation. Ends the turn of the main task with everything that the turn waits for; if the key is
 * pressed again soon, stops the complete tree. If nothing is at work, two presses with an empty editor begin an undo.
 */
export function interruptTask(
  state: AppState,
  armed: AppState['armed'],
  { bindings }: Pick<UpdateContext, 'bindings'>,
): Update {
  const { tree, conversation } = state;
  const { root: task } = tree;
  const row = rootRow(tree);
  if (task === null || row === undefined || hasEnded(row)) return offerUndo(state, armed, bindings);
  if (armed === 'stop-tree')
    return next({ ...state, hint: 'stopping everything' }, { type: 'stop-task', task });
  if (conversation.isWatched) {
    // One key must not stop the work of another process.
    const text = 'press esc again to stop it and all tasks below it, where they run';
    return arm(state, 'stop-tree', { hint: text, ms: 2_000 });
  }
  const [key = ''] = keysOf(bindings, 'interrupt');
  const inBackground = [...tree.rows.values()].filter(
    (child) => child.parent === task && !hasEnded(child) && tree.background.has(child.id),
  ).length;
  const text =
    inBackground === 0
      ? 'stopping'
      : `${row.activity.kind === 'waiting_for_children' ? '' : 'interrupted; '}${key} again stops ${plural(inBackground, 'background task')}`;
  return andThen(next(state, { type: 'interrupt-task', task }), (interrupted) =>
    arm(interrupted, 'stop-tree', { hint: text }),
  );
}

/** Begins an undo if Esc is pressed twice while nothing is at work and the editor is empty. */
function offerUndo(
  state: AppState,
  armed: AppState['armed'],
  bindings: UpdateContext['bindings'],
): Update {
  const { conversation, typed, surface } = state;
  const isPossible =
    conversation.id !== null &&
    !conversation.isWatched &&
    !conversation.isAtWork &&
    typed === '' &&
    surface === 'screen';
  if (!isPossible) return next({ ...state, hint: null });
  if (armed === 'undo') {
    return next(state, {
      type: 'dispatch',
      message: { type: 'run-command', name: 'undo', argument: '' },
    });
  }
  const [key = ''] = keysOf(bindings, 'interrupt');
  return arm(state, 'undo', { hint: `${key} again: undo (/undo)` });
}

/** Handles Ctrl+C: stops a running shell command, otherwise clears the editor. Leaves when the key is pressed again. */
function leaveOrClear(
  state: AppState,
  {
    armed,
    action,
    bindings,
  }: Pick<UpdateContext, 'bindings'> & {
    readonly armed: AppState['armed'];
    readonly action: 'leave' | 'leave-empty';
  },
): Update {
  if (state.picker !== null) return closePicker(state);
  if (state.typed === '' && state.isShellRunning) return stopShell(state);
  if (armed === 'leave') return next(state, { type: 'leave' });
  const [key = ''] = keysOf(bindings, action);
  const text = `${key} again ${describeLeaving(state, bindings)}`;
  return andThen(arm(state, 'leave', { hint: text }), (armedState) =>
    setEditorText(armedState, ''),
  );
}

/** Describes what leaving does, and for a user who only wants to stop the work, which key does that. */
function describeLeaving({ tree, conversation }: AppState, bindings: Bindings): string {
  if (conversation.isWatched) return 'leaves; the watched tasks continue';
  const row = rootRow(tree);
  if (row === undefined) return 'leaves';
  if (hasEnded(row)) return 'leaves; the conversation can be resumed';
  const [stop] = keysOf(bindings, 'interrupt');
  return `stops everything and leaves${stop === undefined ? '' : `; ${stop} only stops the work`}`;
}

/** Handles Esc where it goes back: closes the search, the selection, the question or the open task. */
function goBack(state: AppState): Update {
  if (state.picker !== null) return closePicker(state);
  const { writing, focus } = state;
  if (state.pager !== null) return closePager(state);
  if (writing.kind === 'search') return endSearch(state);
  if (focus === 'entries') return next(leaveEntries(state));
  if (writing.kind !== 'message' || focus === 'question') return leaveQuestion(state);
  if (focus === 'tasks') return next({ ...state, focus: 'editor' });
  return closeTask(state);
}
