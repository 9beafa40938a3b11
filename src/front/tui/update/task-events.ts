import type { TaskEvent } from '../../../protocol/events/event.ts';
import type { TaskState } from '../../../protocol/state/task-state.ts';
import type { AppState } from '../model/app-state.ts';
import { addFormerContent } from '../model/call-entries.ts';
import { findFormerContent } from '../model/call-entry.ts';
import {
  applyToTree,
  attentionText,
  beginTree,
  placeTask,
  rootRow,
  transcriptOf,
  type DisplayedTree,
} from '../model/task-tree.ts';
import { hasEnded, type TreeTask } from '../model/task-row.ts';
import { LANDING_TOOL } from '../../../protocol/tool-names.ts';
import type { UiMessage } from './message.ts';
import { workTime } from '../view/entry-lines.ts';
import { findFanOut } from './fan-out.ts';
import { settleTree } from './tasks.ts';
import { andThen, editTree, next, type UiEffect, type Update, type UpdateContext } from './step.ts';

/** Adds an event of a task, with the effects that follow from it. */
export function receiveEvent(
  state: AppState,
  event: TaskEvent,
  task: TaskState,
  { library }: UpdateContext,
): Update {
  const added = editTree(state, (tree) => applyToTree(tree, event, task), event.task);
  const applied = event.type === 'task.ended' ? settleTree(state, added) : added;
  const text = attentionText(applied.tree, event) ?? endOfWork(state, applied, event);
  const fanOut = findFanOut(event, task, library);
  const updated = next(
    applied,
    ...(text === null ? [] : [{ type: 'call-attention', text } as const]),
    ...(fanOut === null ? [] : [{ type: 'estimate-fan-out', ...fanOut } as const]),
    ...readFormerContent(applied, event),
    ...(event.type === 'call.ended' && event.tool === LANDING_TOOL
      ? readLandings(applied.tree.rows.values())
      : []),
  );
  if (event.task !== applied.tree.root || event.type !== 'turn.ended') return updated;
  return andThen(updated, readStatus);
}

/** Adds a task that was read from its log. */
export function receiveFoundTask(
  state: AppState,
  message: Extract<UiMessage, { type: 'task-found' }>,
): Update {
  const placed = editTree(state, (tree) => placeTask(tree, message.task, message));
  const row = placed.tree.rows.get(message.task.spec.id);
  const effects = row === undefined ? [] : readLandings([row]);
  return andThen(next(placed, ...effects), readContextWindow);
}

/** Returns the effect that reads what has become of the changes of tasks, if one of them has left some. */
function readLandings(rows: Iterable<TreeTask>): readonly UiEffect[] {
  const tasks = [...rows].filter((row) => row.workspace !== null && hasEnded(row));
  if (tasks.length === 0) return [];
  return [{ type: 'read-landings', tasks: tasks.map(({ id }) => id) }];
}

/** Returns the effect that reads the former content of a file after a call in view has changed the file. */
function readFormerContent({ tree, terminal }: AppState, event: TaskEvent): readonly UiEffect[] {
  if (event.type !== 'call.ended' || event.error !== null || terminal.detail === 'short') return [];
  const hash = findFormerContent(event.facts);
  const { task, callId } = event;
  if (hash === null || transcriptOf(tree, task) === null) return [];
  return [{ type: 'read-former-content', task, callId, hash }];
}

/** Adds the unchanged lines of a file to the change that a call has made in it. */
export function receiveFormerContent(
  state: AppState,
  { task, callId, text }: Extract<UiMessage, { type: 'former-content-read' }>,
): AppState {
  const add = (tree: DisplayedTree): void => {
    const transcript = transcriptOf(tree, task);
    if (transcript !== null) addFormerContent(transcript, callId, text);
  };
  return editTree(state, add, task);
}

/** The minimum time of work after which the user is told about its end. Users wait for shorter work at the terminal. */
const MIN_NOTIFIED_WORK_MS = 10_000;

/** Returns the text of a notification if the main agent has ended long work by itself. */
function endOfWork(before: AppState, { tree }: AppState, event: TaskEvent): string | null {
  const { main } = tree;
  const last = main.entries.at(-1);
  if (event.task !== tree.root || last?.kind !== 'worked' || last.key < before.tree.main.nextKey) {
    return null;
  }
  const isUsers =
    event.type === 'turn.interrupted' || (event.type === 'task.ended' && event.end.by === 'user');
  if (isUsers || last.ms < MIN_NOTIFIED_WORK_MS) return null;
  const status = event.type === 'task.ended' ? event.end.status : 'has answered';
  const about = rootRow(tree)?.description ?? '';
  return `main ${status} after ${workTime(last.ms)}${about === '' ? '' : `: ${about}`}`;
}

/** Reads the facts of the status line that events do not report: the branch, and the context window of the model. */
export function readStatus(state: AppState): Update {
  // Plain lines have no status line.
  if (state.surface === 'lines') return next(state);
  return andThen(next(state, { type: 'read-branch' }), readContextWindow);
}

/** Requests the context window of the main task's model, once for each model. */
function readContextWindow(state: AppState): Update {
  const model = rootRow(state.tree)?.model;
  if (state.surface === 'lines' || model === undefined || model === state.contextWindow?.model) {
    return next(state);
  }
  const contextWindow = { model, tokens: null };
  return next({ ...state, contextWindow }, { type: 'read-context-window', model });
}

/** Adds a fact of the status line that was read. */
export function receiveStatus(
  state: AppState,
  message: Extract<UiMessage, { type: 'branch-read' | 'context-window-read' }>,
): AppState {
  if (message.type === 'branch-read') return { ...state, branch: message.branch };
  const { model, tokens } = message;
  return { ...state, contextWindow: { model, tokens } };
}

/** Shows a conversation that was read from its log. */
export function showLoaded(
  state: AppState,
  { id, main }: Extract<UiMessage, { type: 'conversation-loaded' }>,
): Update {
  const loaded: AppState = { ...state, tree: { ...state.tree, main } };
  return andThen(next(editTree(loaded, (tree) => beginTree(tree, id))), readStatus);
}
