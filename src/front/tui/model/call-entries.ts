import type { TaskEvent } from '../../../protocol/events/event.ts';
import type { TodoItem } from '../../../protocol/tool.ts';
import {
  callWithFormerContent,
  callWithProgress,
  callWithTodos,
  type CallProgress,
} from './call-entry.ts';
import type { CalledTask, CallEntry, Entry, EntryBody, ShellChange } from './entry.ts';

/** The part of a transcript that the functions of this file change in place. */
interface CallEntries {
  readonly entries: Entry[];
  children: ReadonlyMap<string, KnownChild>;
}

/** A task below, as its parent's log describes it. */
export interface KnownChild {
  readonly subject: string;
  readonly isBackground: boolean;
  readonly isAgain: boolean;
}

/** Replaces the newest entry of a call. Returns false if there is none in memory. */
export function replaceCall(
  { entries }: Pick<CallEntries, 'entries'>,
  callId: string,
  change: (call: CallEntry) => CallEntry,
): boolean {
  const at = entries.findLastIndex((entry) => entry.kind === 'call' && entry.callId === callId);
  const entry = entries[at];
  if (entry?.kind !== 'call') return false;
  entries[at] = { ...change(entry), key: entry.key };
  return true;
}

/** The maximum number of tasks below whose names are known. */
const MAX_CHILDREN = 300;

/** Records a task that a call creates or resumes. */
export function beginChild(
  transcript: CallEntries,
  event: Extract<TaskEvent, { type: 'child.created' | 'child.resumed' }>,
): void {
  const { child: id, callId, background: isBackground } = event;
  const { children } = transcript;
  let subject = children.get(id)?.subject ?? '';
  replaceCall(transcript, callId, (call) => {
    if (event.type === 'child.created') ({ subject } = call);
    return { ...call, tasks: [...(call.tasks ?? []), { id, isBackground, status: null }] };
  });
  const isAgain = event.type === 'child.resumed';
  const known = new Map(children).set(id, { subject, isBackground, isAgain });
  const [oldest = ''] = known.keys();
  if (known.size > MAX_CHILDREN) known.delete(oldest);
  transcript.children = known;
}

/** Records that the call of a task does not wait for it any more. */
export function moveChildToBackground(transcript: CallEntries, id: string): void {
  const { children } = transcript;
  const known = children.get(id);
  if (known !== undefined) {
    transcript.children = new Map(children).set(id, { ...known, isBackground: true });
  }
  replaceTask(transcript, id, (task) => ({ ...task, isBackground: true }));
}

/** Records the end of a task. Returns the entry for the end of a task in the background; null for another task. */
export function endChild(
  transcript: CallEntries,
  { child: id, status, spent }: Extract<TaskEvent, { type: 'child.ended' }>,
): EntryBody | null {
  replaceTask(transcript, id, (task) => ({ ...task, status }));
  const known = transcript.children.get(id);
  if (known?.isBackground !== true) return null;
  const { subject, isAgain } = known;
  const { tokens, costUsd } = spent;
  return { kind: 'child', id, subject, status, isAgain, tokens, costUsd };
}

/** Records that the user refused a call of a task, which is then not shown as done without a flaw. */
export function markRefused(transcript: Pick<CallEntries, 'entries'>, id: string): void {
  replaceTask(transcript, id, (task) => ({ ...task, hasRefusal: true }));
  const { entries } = transcript;
  const at = entries.findLastIndex((entry) => entry.kind === 'child' && entry.id === id);
  const end = entries[at];
  if (end?.kind === 'child') entries[at] = { ...end, hasRefusal: true };
}

/** Replaces the newest record of a task in the entry of its call. */
function replaceTask(
  { entries }: Pick<CallEntries, 'entries'>,
  id: string,
  change: (task: CalledTask) => CalledTask,
): void {
  const at = entries.findLastIndex(
    (entry) => entry.kind === 'call' && entry.tasks?.some((task) => task.id === id) === true,
  );
  const entry = entries[at];
  if (entry?.kind !== 'call') return;
  const tasks = (entry.tasks ?? []).map((task) => (task.id === id ? change(task) : task));
  entries[at] = { ...entry, tasks };
}

/** Marks running calls as not running, because no process works on the task. */
export function leaveCalls({ entries }: Pick<CallEntries, 'entries'>): void {
  for (const [at, entry] of entries.entries()) {
    if (entry.kind !== 'call' || entry.state !== 'running') continue;
    entries[at] = { ...entry, state: 'requested', startedAt: null };
  }
}

/** Shows the progress of a running call. */
export function addProgress(
  transcript: Pick<CallEntries, 'entries'>,
  callId: string,
  progress: CallProgress,
): void {
  replaceCall(transcript, callId, (call) => callWithProgress(call, progress));
}

/** Adds the unchanged lines of a file to the change that a call made in it. */
export function addFormerContent(
  transcript: Pick<CallEntries, 'entries'>,
  callId: string,
  former: string,
): void {
  replaceCall(transcript, callId, (call) => callWithFormerContent(call, former));
}

/** Adds a todo list to the call that is setting it. */
export function addTodos(
  transcript: Pick<CallEntries, 'entries'>,
  items: readonly TodoItem[],
): void {
  const call = transcript.entries.findLast(
    (entry) => entry.kind === 'call' && entry.tool === 'TodoWrite' && entry.state === 'running',
  );
  if (call?.kind !== 'call') return;
  replaceCall(transcript, call.callId, (entry) => callWithTodos(entry, items));
}

/** Updates the entry of a shell command, if it is still in memory. */
export function updateShell(
  { entries }: Pick<CallEntries, 'entries'>,
  key: number,
  change: ShellChange,
): void {
  const at = entries.findLastIndex((entry) => entry.key === key);
  const entry = entries[at];
  if (entry?.kind === 'shell') entries[at] = { ...entry, ...change };
}
