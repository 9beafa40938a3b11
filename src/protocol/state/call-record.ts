import type { TaskEvent } from '../events/event.ts';
import type { QuotedItem } from '../quoted-item.ts';
import type { CommandRun, FileChange, FileSeen } from '../tool.ts';

/** The actions of a task's calls, as their outcomes report them. */
export interface CallRecord {
  readonly filesRead: Map<string, FileSeen>;
  /** Files that the task and all tasks below it changed, by path. */
  readonly filesChanged: Map<string, FileChange>;
  /**
   * The hash of each file as this task last read or wrote it; null if the task does not know the content, because it
   * deleted the file, moved an unread file there, or added to an unread file.
   */
  readonly knownFiles: Map<string, string | null>;
  readonly commands: CommandRun[];
  /** Variables that it has set for its commands, by name, with the number of the event. */
  readonly variables: Map<string, { readonly value: string; readonly seq: number }>;
  /** Names of the skills whose instructions it has. */
  readonly skills: Set<string>;
}

export function addCallDetails(
  state: CallRecord,
  { facts, seq }: Extract<TaskEvent, { type: 'call.ended' }>,
): void {
  recordReadFiles(state, facts.read ?? []);
  for (const change of facts.changed ?? []) {
    state.knownFiles.set(change.path, isKnown(state, change) ? change.after : null);
  }
  addFileChanges(state, facts.changed ?? []);
  state.commands.push(...(facts.commands ?? []));
  if (facts.skill !== undefined) state.skills.add(facts.skill);
  for (const [name, value] of Object.entries(facts.variables ?? {})) {
    if (value === null) state.variables.delete(name);
    else state.variables.set(name, { value, seq });
  }
}

function isKnown({ knownFiles }: CallRecord, { movedFrom, after, unread }: FileChange): boolean {
  if (unread === true) return false;
  return movedFrom === undefined || knownFiles.get(movedFrom) === after;
}

/** Adds changes of files. Two changes of one file become one, from its first `before` to its last `after`. */
export function addFileChanges(state: CallRecord, changes: readonly FileChange[]): void {
  for (const change of changes) {
    const first = state.filesChanged.get(change.path);
    const before = first === undefined ? change.before : first.before;
    state.filesChanged.set(change.path, { ...change, before });
  }
}

/** Records files as read. */
export function recordReadFiles(
  { filesRead, knownFiles }: Pick<CallRecord, 'filesRead' | 'knownFiles'>,
  files: readonly FileSeen[],
): void {
  for (const seen of files) {
    filesRead.set(seen.path, seen);
    knownFiles.set(seen.path, seen.hash);
  }
}

/** Records the files of items that a person attached as read. */
export function recordQuotedFiles(
  record: Pick<CallRecord, 'filesRead' | 'knownFiles'>,
  items: readonly QuotedItem[] = [],
): void {
  for (const { read = [] } of items) recordReadFiles(record, read);
}
