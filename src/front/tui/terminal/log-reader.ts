import { readTree, type TaskEvent } from '../../../api/index.ts';
import { errorMessage } from '../../../base/errors.ts';
import type { PermissionMode } from '../../../protocol/permission.ts';
import type { LastPrompt } from '../model/app-state.ts';
import {
  applyToTranscript,
  copyTranscript,
  emptyTranscript,
  leaveCalls,
  type Transcript,
} from '../model/transcript.ts';
import type { UiLibrary } from '../model/ui-library.ts';
import type { UiMessage } from '../update/message.ts';
import { liveEventFilter, selectLiveEvents } from '../../../protocol/events/rewound.ts';
import { foldEvents } from '../../../protocol/state/fold.ts';
import type { TaskState } from '../../../protocol/state/task-state.ts';

type Store = UiLibrary['store'];

/** The maximum number of earlier tasks that are shown in the tree; the others are only counted. */
const MAX_EARLIER_TASKS = 600;

/** Reads the transcript of a task from its log. */
export function readTranscript(store: Store, id: string): Transcript {
  const transcript = emptyTranscript(id);
  store.scan(id, (event) => applyToTranscript(transcript, event));
  return transcript;
}

/**
 * Reads the log of a conversation and adds the events that the transcript `main` does not have. Returns the new
 * transcript and the mode of the conversation according to its log. `isRunning` says whether a process works on the
 * conversation; otherwise its running calls are shown as not running.
 */
export function readConversation(
  store: Store,
  id: string,
  { main, isRunning }: { readonly main: Transcript; readonly isRunning: boolean },
): { readonly main: Transcript; readonly mode: PermissionMode | undefined } {
  const transcript = copyTranscript(main);
  transcript.task = id;
  const isLive = liveEventsOf(store, id);
  let mode: PermissionMode | undefined;
  store.scan(id, (event) => {
    if (!isLive(event.seq)) return;
    applyToTranscript(transcript, event);
    if (event.type === 'task.created') ({ mode } = event.spec.rights);
    else if (event.type === 'terms.changed') ({ mode } = event.rights);
  });
  if (!isRunning) leaveCalls(transcript);
  return { main: transcript, mode };
}

function readEvents(store: Store, id: string): readonly TaskEvent[] {
  const events: TaskEvent[] = [];
  store.scan(id, (event) => events.push(event));
  return events;
}

/** Reads the state of a task that no process runs. The task counts as interrupted, unless it ended or waits for an answer. */
export function readLeftTask(store: Store, id: string): TaskState {
  const state = foldEvents(readEvents(store, id));
  if (state.end === null && state.status !== 'parked') state.status = 'interrupted';
  return state;
}

/** Returns a test for event numbers: whether no undo has taken the event back. */
export function liveEventsOf(store: Store, id: string): (seq: number) => boolean {
  const rewinds: { readonly seq: number; readonly to: number }[] = [];
  let last = -1;
  store.scan(id, (event) => {
    last = event.seq;
    if (event.type === 'task.rewound') rewinds.push({ seq: event.seq, to: event.to });
  });
  return liveEventFilter(rewinds, last);
}

/** Reads the last message of the user in a conversation; null if there is none. */
export function readLastPrompt(store: Store, id: string): LastPrompt | null {
  const live = selectLiveEvents(readEvents(store, id));
  const index = live.findLastIndex(
    (event) =>
      event.type === 'input.queued' &&
      event.input.from === 'user' &&
      event.input.kind === 'message',
  );
  const last = live[index];
  if (last?.type === 'input.queued') {
    return { text: last.input.text, before: live[index - 1]?.seq ?? null };
  }
  const [first] = live;
  return first?.type === 'task.created' ? { text: first.spec.prompt, before: null } : null;
}

/**
 * Reads the tasks below an earlier conversation and dispatches a message for each task. `isWanted` says whether the tree
 * still needs a task: another conversation may have replaced this one, or events may have added the task already.
 * `isWanted(null)` asks whether the conversation is still shown.
 */
export async function readEarlierTasks(
  store: Store,
  root: string,
  isWanted: (task: TaskState | null) => boolean,
  dispatch: (message: UiMessage) => void,
): Promise<void> {
  try {
    const passedOver = await readTree(store, root, {
      maxTasks: MAX_EARLIER_TASKS,
      onTask: (task) => {
        if (isWanted(task)) dispatch({ type: 'task-found', task, isAsking: false });
      },
    });
    if (isWanted(null)) dispatch({ type: 'tasks-passed-over', count: passedOver.length });
  } catch (thrown) {
    const text = `earlier tasks can't be read: ${errorMessage(thrown)}`;
    dispatch({ type: 'note', level: 'error', text });
  }
}
