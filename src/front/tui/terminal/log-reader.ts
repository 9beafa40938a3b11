import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { loadStoredTasks, type TaskEvent } from '../../../api/index.ts';
import { errorMessage, MusterError } from '../../../base/errors.ts';
import type { PermissionMode } from '../../../protocol/permission.ts';
import { addFormerContent, leaveCalls } from '../model/call-entries.ts';
import {
  applyToTranscript,
  copyTranscript,
  emptyTranscript,
  type Transcript,
} from '../model/transcript.ts';
import { MAX_PAGER_TEXT } from '../model/pager.ts';
import type { UiLibrary } from '../model/ui-library.ts';
import type { UserPrompt } from '../update/picker-items.ts';
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
  addFormerContents(store, transcript);
  return transcript;
}

/** The maximum length of a former content that is read to show a change, and the number of changes of a log that get it. */
const MAX_FORMER = 1024 * 1024;
const MAX_FORMERS = 20;

/** Reads the former content of a file; null if it was not kept, or is too long to be compared at once. */
export function readFormerContent(store: Store, hash: string): string | null {
  const bytes = store.getBackup(hash);
  return bytes === null || bytes.length > MAX_FORMER ? null : bytes.toString('utf8');
}

/** Adds the unchanged lines of the files to the newest changes of a transcript. */
function addFormerContents(store: Store, transcript: Transcript): void {
  const changes = transcript.entries.flatMap((entry) =>
    entry.kind === 'call' && entry.formerContent !== null
      ? [{ callId: entry.callId, hash: entry.formerContent }]
      : [],
  );
  for (const { callId, hash } of changes.slice(-MAX_FORMERS)) {
    const former = readFormerContent(store, hash);
    if (former !== null) addFormerContent(transcript, callId, former);
  }
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
  addFormerContents(store, transcript);
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
function liveEventsOf(store: Store, id: string): (seq: number) => boolean {
  const rewinds: { readonly seq: number; readonly to: number }[] = [];
  let last = -1;
  store.scan(id, (event) => {
    last = event.seq;
    if (event.type === 'task.rewound') rewinds.push({ seq: event.seq, to: event.to });
  });
  return liveEventFilter(rewinds, last);
}

/** Reads the messages of the user in a conversation that nobody has taken back, the oldest first. */
export function readPrompts(store: Store, id: string): readonly UserPrompt[] {
  const live = selectLiveEvents(readEvents(store, id));
  const withdrawn = new Set(
    live.flatMap((event) => (event.type === 'input.withdrawn' ? event.ids : [])),
  );
  return live.flatMap((event, index): readonly UserPrompt[] => {
    if (event.type === 'task.created') {
      const { prompt } = event.spec;
      return prompt === '' ? [] : [{ text: prompt, before: null, sent: event.ts }];
    }
    if (event.type !== 'input.queued') return [];
    const { id: input, from, kind, text } = event.input;
    if (from !== 'user' || kind !== 'message' || withdrawn.has(input)) return [];
    return [{ text, before: live[index - 1]?.seq ?? null, sent: event.ts }];
  });
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
    const { readTree } = await loadStoredTasks();
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

/** Matches the path in the note of a result whose full output is in a file. */
const SPILL_NOTE = / is in (\/[^\n]*?): Read it/;

/** Reads the full output of a call from the file that its result names. Returns null if the task has no such file. */
export function readSpill(store: Store, task: string, result: string): string | null {
  const path = SPILL_NOTE.exec(result)?.[1];
  if (path === undefined || !store.isTaskFile(task, path)) return null;
  return readBounded(path, 'start');
}

/**
 * Reads a file of a task, at most its last `MAX_PAGER_TEXT` bytes. The path comes from a log, which may name any file, so
 * other files are refused. Throws MusterError, or the error of the system.
 */
export function readTaskFile(store: Store, task: string, path: string): string {
  if (store.isTaskFile(task, path)) return readBounded(path, 'end');
  throw new MusterError('NOT_FOUND', 'the output is not in a file of the task');
}

/** The maximum size of a file that is read to show a proposed change, in bytes. */
const MAX_PROPOSED_FILE = 1024 * 1024;

/** Reads the file that a question would change; null if it is no regular file, too large, or cannot be read. */
export function readProposedFile(path: string): string | null {
  let fd: number | null = null;
  try {
    // Opening a pipe must not wait for its other end.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(fd);
    if (!stats.isFile() || stats.size > MAX_PROPOSED_FILE) return null;
    const bytes = Buffer.alloc(stats.size);
    return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, 0)).toString('utf8');
  } catch {
    // The edits are then shown without the lines around them.
    return null;
  } finally {
    if (fd !== null) closeSync(fd);
  }
}

/** Reads a file, or the part at its start or end that the pager can show. */
function readBounded(path: string, part: 'start' | 'end'): string {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { size } = fstatSync(fd);
    const bytes = Buffer.alloc(Math.min(size, MAX_PAGER_TEXT + 1));
    const from = part === 'start' ? 0 : size - bytes.length;
    return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, from)).toString('utf8');
  } finally {
    closeSync(fd);
  }
}
