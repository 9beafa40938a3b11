import type { TaskSummary } from '../../../../api/index.ts';
import type { AppState, EarlierConversations } from '../../model/app-state.ts';
import { emptyTree, forgetTree } from '../../model/task-tree.ts';
import { isHintNew, RESUME_HINT } from '../../view/hints.ts';
import { earlierText } from '../../view/start-screen.ts';
import { idleStatusSign } from '../../view/task-pane.ts';
import { addNote, editTree, andThen, hint, next, type Update, dispatchNote } from '../step.ts';
import type { ConversationFound, UiMessage } from '../message.ts';
import { pickConversation } from '../open-picker.ts';
import { titleOf } from '../../../../base/title.ts';
import { formatAge } from '../../../../base/text.ts';
import { MusterError } from '../../../../base/errors.ts';
import { closeTask } from '../tasks.ts';
import type { Page } from './pages.ts';

/** The maximum number of conversations that the page lists. */
const MAX_LISTED = 20;

/** `/new`: the next message starts another conversation. */
export function startNewConversation(state: AppState): Update {
  const { id, isAtWork } = state.conversation;
  if (isAtWork) return hint(state, 'the conversation is at work: stop it first');
  return andThen(closeTask(state), (closed) => {
    const text = `muster --resume ${id === null ? '' : shortId(id)} continues the conversation above`;
    const noted = id === null ? closed : addNote(closed, 'info', text);
    const empty = editTree({ ...noted, chosenTask: null }, forgetTree);
    return next(empty, { type: 'start-new-conversation' });
  });
}

/** `/resume`: lists the conversations of this directory, or continues the named conversation. */
export function switchConversation(state: AppState, name: string): Update {
  if (name === '') {
    return state.surface === 'screen'
      ? pickConversation(state)
      : next(state, { type: 'list-conversations' });
  }
  if (state.conversation.isAtWork) return hint(state, 'the conversation is at work: stop it first');
  return next(state, { type: 'find-conversation', name });
}

/** Says from when on the model that the user chose applies. */
export function showChosenModel(state: AppState, name: string): AppState {
  const when = state.conversation.isAtWork
    ? 'once the current turn has ended'
    : 'from the next message on';
  return addNote({ ...state, hasChosenModel: true }, 'info', `${name} ${when}`);
}

/** Looks for earlier conversations at the start, while the hint about them is new to the user. */
export function findEarlier(state: AppState): Update {
  const isWanted = state.firstMessage === null && isHintNew(state, RESUME_HINT);
  return isWanted ? next(state, { type: 'find-earlier-conversations' }) : next(state);
}

/** Shows the hint about earlier conversations, unless the user has begun a conversation in the meantime. */
export function showEarlier(
  state: AppState,
  { earlier }: Extract<UiMessage, { type: 'earlier-found' }>,
): AppState {
  const { id, isSending } = state.conversation;
  if (id !== null || isSending) return state;
  if (state.surface === 'screen') return { ...state, earlier };
  return addNote(state, 'info', earlierText(earlier, Infinity));
}

/** Describes the conversations of a directory; null if there are none. `tasks` are all tasks in the logs. */
export function describeEarlier(
  tasks: readonly TaskSummary[],
  { cwd, now }: Omit<ListOptions, 'current'>,
): EarlierConversations | null {
  const all = conversationsIn(tasks, cwd);
  const times = all.map(lastTime);
  const newest = Math.max(...times);
  const task = all[times.indexOf(newest)];
  if (task === undefined) return null;
  return { count: all.length, title: titleOf(task.description), age: formatAge(now - newest) };
}

/** Returns the conversations of a directory. */
function conversationsIn(tasks: readonly TaskSummary[], cwd: string): readonly TaskSummary[] {
  return tasks.filter(
    (task) => task.parent === null && task.cwd === cwd && task.source !== 'template',
  );
}

function lastTime({ created, ended }: TaskSummary): number {
  return ended ?? created;
}

/** Lists the conversations, because the named one does not exist. */
export function offerConversations(state: AppState, problem: string): Update {
  return andThen(switchConversation(state, ''), (listed) =>
    listed.surface === 'lines' ? next(addNote(listed, 'warning', problem)) : hint(listed, problem),
  );
}

/** Says why the beginning of an id names no conversation; null for any other error. */
export function describeUnresolved(id: string, thrown: unknown): string | null {
  if (!(thrown instanceof MusterError)) return null;
  if (thrown.code === 'NOT_FOUND') return `there is no conversation ${id}: choose one`;
  return thrown.code === 'INVALID_PARAM' ? `several ids begin with ${id}: choose one` : null;
}

/** Opens the conversation that `/resume` named, if this process can continue it. Shows a hint otherwise. */
export function openFound(state: AppState, found: ConversationFound): Update {
  const { id, parent, root, ownerPid } = found;
  const { id: before } = state.conversation;
  if (id === before) return hint(state, 'this conversation is already open');
  if (parent !== null) {
    const conversation = shortId(root);
    return hint(state, `${shortId(id)} is a task of conversation ${conversation}: resume that one`);
  }
  if (ownerPid !== null) {
    const command = `muster tasks watch ${shortId(id)}`;
    return hint(state, `process ${ownerPid} is working on it: ${command} shows it`);
  }
  return andThen(closeTask(state), (closed) => {
    const empty = editTree({ ...closed, chosenTask: null }, emptyTree);
    const load = { type: 'load-conversation', id } as const;
    if (before === null) return next(empty, load);
    const text = `/resume ${shortId(before)} returns to the previous conversation`;
    return next(empty, load, dispatchNote('info', text));
  });
}

interface ListOptions {
  readonly cwd: string;
  /** The id of the conversation that is open. */
  readonly current: string | null;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Builds the page with the conversations of a directory. `tasks` are all tasks in the logs, the newest first. */
export function conversationsPage(
  tasks: readonly TaskSummary[],
  { cwd, current, now }: ListOptions,
): Page {
  const all = conversationsIn(tasks, cwd);
  if (all.length === 0) return { title: 'Conversations here', lines: ['none yet'] };
  const older = all.length - MAX_LISTED;
  return {
    title: `Conversations here: ${all.length}`,
    lines: [
      ...all.slice(0, MAX_LISTED).map((task) => conversationLine(task, { current, now })),
      ...(older > 0 ? [`and ${older} older: muster tasks list --all --here`] : []),
      '/resume ID continues one of them',
    ],
  };
}

function conversationLine(task: TaskSummary, { current, now }: Omit<ListOptions, 'cwd'>): string {
  const { id, status, description } = task;
  const sign = idleStatusSign(status);
  const when = formatAge(now - lastTime(task));
  const isThis = id === current ? ' (this one)' : '';
  return `${sign} ${shortId(id)} ${when.padStart(14)}  ${status.padEnd(11)} ${titleOf(description)}${isThis}`;
}

/** Returns the beginning of an id, which is enough to name a task. */
function shortId(id: string): string {
  return id.slice(0, 8);
}
