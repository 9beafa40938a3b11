import type { TaskEvent } from '../../../protocol/events/event.ts';
import type { CalledTask, CallEntry, Entry, EntryBody } from './entry.ts';

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
